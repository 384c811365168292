// Levels, parts, and lines in one piece.
#include "base/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

/// HAM_LOG, and stderr in a file, while it lives.
class log : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("HAM_LOG");
    renew_log_levels();
  }
  void TearDown() override { SetUp(); }

  static void set(const char* text) {
    ::setenv("HAM_LOG", text, 1);
    renew_log_levels();
  }
  template <class Act>
  static std::string written(Act act) {
    std::fflush(stderr);
    const unique_fd before(::dup(STDERR_FILENO));
    std::FILE* const file = std::tmpfile();
    ::dup2(::fileno(file), STDERR_FILENO);
    act();
    ::dup2(before.get(), STDERR_FILENO);
    std::rewind(file);
    std::string text;
    for (int one = std::fgetc(file); one != EOF; one = std::fgetc(file)) text.push_back(static_cast<char>(one));
    std::fclose(file);
    return text;
  }
  static std::string why_not(const char* text) {
    try {
      static_cast<void>(parse_log_levels(text, "HERE"));
    } catch (const config_error& why) {
      return why.what();
    }
    return "";
  }
};

TEST_F(log, tells_warnings_as_plain_lines_unless_asked_for_more) {
  const std::string text = written([] {
    base::log("tcp", log_level::warning, "%d of %s", 3, "many");
    base::log("tcp", log_level::info, "not told");
    base::log("tcp", log_level::error, "an error");
  });
  EXPECT_EQ(text, "ham: 3 of many\nham: an error\n");
}

TEST_F(log, tells_when_where_and_how_grave) {
  set("debug");
  use_log_node([]() noexcept { return 7; });
  const std::string text = written([] { base::log("tcp", log_level::debug, "a line"); });
  use_log_node(nullptr);
  EXPECT_TRUE(
      std::regex_match(text, std::regex(R"(ham \d\d:\d\d:\d\d\.\d{6} node 7 pid \d+ thread \d+ debug tcp: a line\n)")))
      << text;
}

TEST_F(log, levels_are_of_parts) {
  set("error,tcp=debug,job=off");
  EXPECT_TRUE(logs("tcp", log_level::debug));
  EXPECT_TRUE(logs("mpi", log_level::error));
  EXPECT_FALSE(logs("mpi", log_level::warning));
  EXPECT_FALSE(logs("job", log_level::error));
  set("tcp=debug,info");
  EXPECT_TRUE(logs("tcp", log_level::info));
  EXPECT_FALSE(logs("tcp", log_level::debug)) << "later words count";
  set("off");
  EXPECT_EQ(written([] { base::log("tcp", log_level::error, "x"); }), "");
}

TEST_F(log, what_is_no_level_is_refused) {
  EXPECT_EQ(why_not("info,tcp=debug"), "");
  EXPECT_EQ(why_not(""), "");
  EXPECT_EQ(
      why_not("loud"),
      "HERE=loud has \"loud\"; a level (off, error, warning, info, debug) is meant, or PART=LEVEL, such as tcp=debug");
  for (const char* const text : {"=info", "tcp=", "TCP=info", "tcp=info=info", "info;tcp=debug", " info"}) {
    EXPECT_NE(why_not(text), "") << text;
  }
}

TEST_F(log, a_setting_that_cannot_be_used_leaves_the_default) {
  set("loud");
  EXPECT_TRUE(logs("tcp", log_level::warning));
  EXPECT_FALSE(logs("tcp", log_level::info));
}

TEST_F(log, lines_are_whole) {
  constexpr int threads = 4;
  constexpr int lines = 500;
  const std::string text = written([] {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([i] {
        const std::string word(static_cast<std::size_t>(100 + i * 600), static_cast<char>('a' + i));
        for (int k = 0; k < lines; ++k) base::log("tcp", log_level::error, "%s\n%s", word.c_str(), word.c_str());
      });
    }
    for (std::thread& one : all) one.join();
  });
  std::istringstream in(text);
  std::vector<int> counts(threads);
  for (std::string line; std::getline(in, line);) {
    ASSERT_TRUE(line.starts_with("ham: ")) << line;
    const char letter = line[5];
    const std::string word(static_cast<std::size_t>(100 + (letter - 'a') * 600), letter);
    ASSERT_EQ(line, "ham: " + word + " " + word);
    ++counts.at(static_cast<std::size_t>(letter - 'a'));
  }
  EXPECT_EQ(counts, std::vector<int>(threads, lines));
}

TEST_F(log, long_ones_are_several_lines_that_pipes_take_in_one_piece) {
  const std::string text(10'000, 'x');
  std::istringstream in(written([&] { base::log("tcp", log_level::error, "%s", text.c_str()); }));
  std::string together;
  for (std::string line; std::getline(in, line);) {
    ASSERT_TRUE(line.starts_with("ham: ")) << line;
    EXPECT_LT(line.size(), 4096U);
    together += line.substr(5);
  }
  EXPECT_EQ(together, text);
  EXPECT_EQ(written([] { base::log("tcp", log_level::error, "%s", ""); }), "ham: \n");
}

}  // namespace
}  // namespace ham::base
