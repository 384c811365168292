// The table of settings: texts, errors, who comes first, and that the documentation lists the same.
#include "base/settings.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

/// A variable of the environment while this lives.
class in_environment_now {
 public:
  in_environment_now(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~in_environment_now() { ::unsetenv(name_); }

 private:
  const char* name_;
};

std::string error_of(setting which, const std::string& text) {
  try {
    static_cast<void>(parse_setting(which, text, "HERE"));
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

/// How a shell's script ends, with what the program has set in its environment.
std::string end_of_script(const std::string& script, std::vector<std::string> extra = {}) {
  process_request request;
  request.command = {"/bin/sh", "-c", script};
  request.extra_environment = std::move(extra);
  return wait_for_end(start_process(request), std::chrono::seconds(20));
}

class settings : public testing::Test {
 protected:
  void TearDown() override { use_program_settings({}); }
};

TEST_F(settings, are_in_the_order_of_their_enumeration) {
  std::size_t place = 0;
  std::set<std::string> names;
  for (const setting_info& one : all_settings()) {
    EXPECT_EQ(static_cast<std::size_t>(one.id), place++) << one.variable;
    EXPECT_EQ(&info_of(one.id), &one);
    EXPECT_TRUE(names.insert(one.variable).second) << one.variable;
    EXPECT_TRUE(std::string(one.variable).starts_with("HAM_"));
  }
  EXPECT_EQ(place, static_cast<std::size_t>(setting::target) + 1) << "the last one";
}

/// Environment, option and member say the same word.
TEST_F(settings, have_one_name_in_three_spellings) {
  for (const setting_info& one : all_settings()) {
    if (one.field == nullptr) {
      EXPECT_EQ(option_of(one), "");
      continue;
    }
    std::string variable = "HAM_";
    for (const char* letter = one.field; *letter != '\0'; ++letter)
      variable += static_cast<char>(std::toupper(static_cast<unsigned char>(*letter)));
    EXPECT_EQ(variable, one.variable);
  }
  EXPECT_EQ(option_of(info_of(setting::mpi_end_timeout)), "--ham-mpi-end-timeout");
}

TEST_F(settings, stand_for_numbers) {
  EXPECT_EQ(parse_setting(setting::max_message, "3M", ""), 3 << 20);
  EXPECT_EQ(parse_setting(setting::max_message, "1024G", ""), std::int64_t{1} << 40);
  EXPECT_EQ(parse_setting(setting::tcp_timeout, "2.3", ""), 2'300'000'000);
  EXPECT_EQ(parse_setting(setting::start_timeout, "0", ""), 0);
  EXPECT_EQ(parse_setting(setting::mpi_pause, "spin", ""), 0);
  EXPECT_EQ(parse_setting(setting::mpi_pause, "20000", ""), 20000);
  EXPECT_EQ(parse_setting(setting::tcp_security, "force-off", ""), 2);
  EXPECT_EQ(parse_setting(setting::progress_thread, "1", ""), 1);
  EXPECT_EQ(parse_setting(setting::nodes, "anything", ""), 0) << "read elsewhere";
}

TEST_F(settings, that_cannot_be_used_are_told_with_what_can) {
  EXPECT_EQ(error_of(setting::pool_threads, "4097"), "HERE=4097 is no number from 1 to 4096");
  EXPECT_EQ(error_of(setting::tcp_timeout, "3s"), "HERE=3s is no number of seconds from 0.1 to 3600");
  EXPECT_EQ(error_of(setting::start_timeout, "-1"), "HERE=-1 is no number of seconds from 0 (no limit) to 1000000");
  EXPECT_EQ(error_of(setting::cuda_linger, "x"), "HERE=x is no number from 0 to 3600000000") << "0 is none at all";
  EXPECT_EQ(error_of(setting::mpi_pause, "0"), "HERE=0 is neither spin nor a number from 1 to 1000000");
  EXPECT_EQ(error_of(setting::mpi_end_timeout, "spin"), "HERE=spin is neither never nor a number from 1 to 1000000");
  EXPECT_EQ(error_of(setting::progress_thread, "yes"), "HERE=yes is neither 0 nor 1");
  EXPECT_EQ(error_of(setting::max_message, "1M"),
            "HERE=1M is not understood; a number of bytes from 2M to 1024G is meant, K, M or G may follow it");
  EXPECT_EQ(error_of(setting::tcp_security, "of"),
            "HERE=of is not understood; on is the default, off does without keys and encryption on loopback addresses, "
            "force-off everywhere");
  for (const char* const bad : {"", "K", " 2M", "2 M", "2m", "2MM", "99999999999999999999", "-2M"})
    EXPECT_NE(error_of(setting::max_message, bad), "none") << bad;
}

TEST_F(settings, come_from_the_program_then_the_environment) {
  ::unsetenv("HAM_POOL_THREADS");
  EXPECT_FALSE(number_of(setting::pool_threads));
  const in_environment_now set("HAM_POOL_THREADS", "5");
  EXPECT_EQ(number_of(setting::pool_threads), 5);
  use_program_settings({{setting::pool_threads, "6", "the program"}});
  EXPECT_EQ(number_of(setting::pool_threads), 6);
  EXPECT_EQ(text_of(setting::pool_threads), "6");
  use_program_settings({{setting::pool_threads, "0", "the program"}});
  EXPECT_THROW(static_cast<void>(number_of(setting::pool_threads)), config_error);
  use_program_settings({});
  EXPECT_EQ(number_of(setting::pool_threads), 5) << "what was said before does not stay";
}

TEST_F(settings, that_privileged_programs_refuse_are_read_by_others) {
  const in_environment_now set("HAM_MODULE_PATH", "/modules");
  EXPECT_TRUE(info_of(setting::module_path).trusted);
  EXPECT_EQ(text_of(setting::module_path), "/modules");
}

TEST_F(settings, of_an_empty_variable_are_not_set) {
  const in_environment_now set("HAM_POOL_THREADS", "");
  EXPECT_FALSE(number_of(setting::pool_threads));
  EXPECT_TRUE(in_environment(setting::pool_threads));
  EXPECT_EQ(text_of(setting::pool_threads), "");
}

TEST_F(settings, that_make_no_sense_are_found_before_they_are_used) {
  EXPECT_NO_THROW(expect_sound_settings());
  const in_environment_now set("HAM_MPI_MAP", "no");
  EXPECT_THROW(expect_sound_settings(), config_error);
}

TEST_F(settings, of_the_program_are_handed_to_what_it_starts) {
  use_program_settings({{setting::tcp_timeout, "7", "the program"}, {setting::pool_threads, "6", "the program"}});
  const in_environment_now set("HAM_TCP_TIMEOUT", "5");
  const std::string script = R"(test "$HAM_TCP_TIMEOUT" = 7 && test "$HAM_POOL_THREADS" = )";
  EXPECT_NE(end_of_script(script + "6").find(" 0"), std::string::npos);
  EXPECT_NE(end_of_script(script + "9", {"HAM_POOL_THREADS=9"}).find(" 0"), std::string::npos) << "of this one alone";
}

TEST_F(settings, that_name_code_are_handed_to_nobody) {
  use_program_settings({{setting::module_path, "/modules", "the program"}});
  EXPECT_NE(end_of_script(R"(test -z "$HAM_MODULE_PATH")").find(" 0"), std::string::npos);
}

TEST_F(settings, are_in_the_help) {
  const std::string help = settings_help();
  for (const setting_info& one : all_settings()) {
    if (one.field == nullptr) continue;
    EXPECT_NE(help.find(option_of(one) + ", " + one.variable + " (" + one.read_by + "): " + values_of(one)),
              std::string::npos)
        << one.variable;
  }
  EXPECT_EQ(help.find("HAM_TARGET"), std::string::npos);
}

/// The cells of a line of a table.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) {
    cell.erase(0, cell.find_first_not_of(' '));
    cells.push_back(cell.erase(cell.find_last_not_of(' ') + 1));
  }
  return cells;
}

TEST_F(settings, are_those_of_the_documentation) {
  std::ifstream page(HAM_SOURCE_FOLDER "/docs/configuration.md");
  ASSERT_TRUE(page.is_open());
  std::string line;
  while (std::getline(page, line) && !line.starts_with("| variable | read by | values | default |")) continue;
  std::getline(page, line);
  std::size_t at = 0;
  for (; std::getline(page, line) && line.starts_with("|"); ++at) {
    ASSERT_LT(at, all_settings().size()) << line;
    const setting_info& one = all_settings()[at];
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_EQ(cells.size(), 5U) << line;
    EXPECT_EQ(cells[0], "`" + std::string(one.variable) + "`");
    EXPECT_EQ(cells[1], one.read_by) << one.variable;
    EXPECT_EQ(cells[2], values_of(one)) << one.variable;
    EXPECT_EQ(cells[3], one.usual) << one.variable;
    EXPECT_NE(cells[4], "") << one.variable;
  }
  EXPECT_EQ(at, all_settings().size()) << "docs/configuration.md lists fewer";
}

TEST_F(settings, of_others_are_read_as_they_are) {
  const in_environment_now set("HAM_TEST_FOREIGN", "");
  EXPECT_STREQ(foreign_variable("HAM_TEST_FOREIGN"), "");
  EXPECT_STREQ(foreign_variable_unless_privileged("HAM_TEST_FOREIGN"), "") << "these tests have no privileges";
  EXPECT_EQ(foreign_variable("HAM_TEST_ABSENT"), nullptr);
}

}  // namespace
}  // namespace ham::base
