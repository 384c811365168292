// Which node clients mean, and by which command and environment its helper starts.
#include "veo/host/start.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <map>

#include "veo/settings.hpp"

namespace ham::inline v1::veo {
namespace {

using values = std::map<std::string, std::string>;

/// Variables that are as before afterwards.
class environment {
 public:
  explicit environment(const values& these) {
    for (const char* const name : {"_VENODELIST", "VE_NODE_NUMBER", "VEORUN_BIN", "VEO_DEBUG", "VE_OMP_NUM_THREADS",
                                   "VE_LD_LIBRARY_PATH", "HAM_VEO_NODES", "VE_CORE_NUMBER", "LD_LIBRARY_PATH"}) {
      if (const char* const text = std::getenv(name)) before_[name] = text;
      const auto wanted = these.find(name);
      if (wanted == these.end())
        ::unsetenv(name);
      else
        ::setenv(name, wanted->second.c_str(), 1);
      names_.emplace_back(name);
    }
  }
  ~environment() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

TEST(veo_start, a_node_is_the_one_of_that_number_or_the_usual_one) {
  const environment none(values{});
  EXPECT_EQ(resolve_node(0), 0);
  EXPECT_EQ(resolve_node(3), 3);
  EXPECT_EQ(resolve_node(-1), 0);
  EXPECT_EQ(resolve_node(-2), std::nullopt);
  EXPECT_EQ(resolve_node(INT_MIN), std::nullopt);
}

TEST(veo_start, the_usual_node_may_be_named) {
  const environment named(values{{"VE_NODE_NUMBER", "5"}});
  EXPECT_EQ(resolve_node(-1), 5);
  EXPECT_EQ(resolve_node(2), 2);
  for (const char* const wrong : {"x", "-1", "1x", "99999999999"}) {
    const environment bad(values{{"VE_NODE_NUMBER", wrong}});
    EXPECT_EQ(resolve_node(-1), std::nullopt) << wrong;
  }
}

TEST(veo_start, numbers_count_in_the_list_of_a_batch_system) {
  const environment listed(values{{"_VENODELIST", "4 7  2"}});
  EXPECT_EQ(resolve_node(0), 4);
  EXPECT_EQ(resolve_node(2), 2);
  EXPECT_EQ(resolve_node(3), std::nullopt);
  EXPECT_EQ(resolve_node(-1), 4);
  const environment named(values{{"_VENODELIST", "4 7 2"}, {"VE_NODE_NUMBER", "7"}});
  EXPECT_EQ(resolve_node(-1), 7);
  const environment other(values{{"_VENODELIST", "4 7 2"}, {"VE_NODE_NUMBER", "5"}});
  EXPECT_EQ(resolve_node(-1), std::nullopt) << "it is not of this job";
  const environment nonsense(values{{"_VENODELIST", "four"}});
  EXPECT_EQ(resolve_node(0), std::nullopt);
}

TEST(veo_start, a_helper_is_a_path_and_its_arguments) {
  const environment none(values{});
  using words = std::vector<std::string>;
  EXPECT_EQ(helper_program(1, words_of("/opt/aveorun")).command, words{"/opt/aveorun"});
  EXPECT_EQ(helper_program(1, words_of("  tools/run  -v x ")).command, (words{"tools/run", "-v", "x"}));
  EXPECT_EQ(helper_program(1, words_of("aveorun")).command, words{"./aveorun"}) << "never looked up in PATH";
  EXPECT_EQ(helper_program(1, words{"/my programs/aveorun"}).command, words{"/my programs/aveorun"});
  EXPECT_THROW(static_cast<void>(helper_program(1, words_of(""))), config_error);
  EXPECT_THROW(static_cast<void>(helper_program(1, words_of("  "))), config_error);
}

TEST(veo_start, a_debugger_stands_in_front) {
  const environment console(values{{"VEO_DEBUG", "console"}});
  EXPECT_EQ(helper_program(1, words_of("aveorun x")).command,
            (std::vector<std::string>{"gdb", "--args", "./aveorun", "x"}));
  const environment other(values{{"VEO_DEBUG", "yes"}});
  EXPECT_EQ(helper_program(1, words_of("./aveorun")).command, std::vector<std::string>{"./aveorun"});
}

TEST(veo_start, a_helper_is_told_its_node_its_host_and_what_its_kernels_need) {
  const environment all(
      values{{"VE_OMP_NUM_THREADS", "4"}, {"VE_LD_LIBRARY_PATH", "/a:/b"}, {"LD_LIBRARY_PATH", "/c"}});
  EXPECT_EQ(helper_program(3, words_of("./h")).environment,
            (std::vector<std::string>{"VE_NODE_NUMBER=3", "HAM_VEO_HOST=" + std::to_string(::getpid()),
                                      "OMP_NUM_THREADS=4", "LD_LIBRARY_PATH=/a:/b:/c"}));
  const environment path(values{{"VE_LD_LIBRARY_PATH", "/a"}});
  EXPECT_EQ(helper_program(3, words_of("./h")).environment.back(), "LD_LIBRARY_PATH=/a")
      << "no empty folder at its end";
}

TEST(veo_start, a_core_that_is_none_is_said_before_the_helper_starts) {
  const environment wrong(values{{"VE_CORE_NUMBER", "many"}});
  EXPECT_THROW(static_cast<void>(helper_program(1, words_of("./h"))), config_error);
}

TEST(veo_start, the_usual_helper_may_be_named) {
  const environment named(values{{"VEORUN_BIN", "/some/where/aveorun -x"}});
  EXPECT_EQ(usual_helper(), (std::vector<std::string>{"/some/where/aveorun", "-x"}));
  const environment none(values{});
  ASSERT_EQ(usual_helper().size(), 1U) << "a path, which may have blanks";
  EXPECT_TRUE(usual_helper().front().starts_with('/')) << "never in a folder relative to the current one";
}

TEST(veo_start, helpers_may_be_elsewhere) {
  const environment places(values{{"HAM_VEO_NODES", "0=tcp://10.0.0.7:7000;3=exec:ssh there aveorun=1"}});
  EXPECT_EQ(elsewhere(0), "tcp://10.0.0.7:7000");
  EXPECT_EQ(elsewhere(3), "exec:ssh there aveorun=1");
  EXPECT_EQ(elsewhere(1), "");
  EXPECT_TRUE(uses_other_machines());
  const environment here(values{{"HAM_VEO_NODES", "0=exec:aveorun"}});
  EXPECT_FALSE(uses_other_machines());
  const environment none(values{});
  EXPECT_EQ(elsewhere(0), "");
  EXPECT_FALSE(uses_other_machines());
}

TEST(veo_start, places_that_cannot_be_read_say_how_to_write_them) {
  for (const char* const wrong : {"tcp://10.0.0.7:7000", "x=exec:a", "=exec:a", "1"}) {
    const environment places(values{{"HAM_VEO_NODES", wrong}});
    try {
      static_cast<void>(elsewhere(0));
      ADD_FAILURE() << wrong;
    } catch (const config_error& problem) {
      EXPECT_EQ(std::string(problem.what()),
                "HAM_VEO_NODES: cannot use \"" + std::string(wrong) +
                    "\"; write NODE=tcp://HOST:PORT or NODE=exec:COMMAND, separated by semicolons");
    }
  }
}

TEST(veo_start, an_address_has_the_name_of_a_transport_in_front) {
  EXPECT_TRUE(is_address("tcp://host:7000"));
  EXPECT_FALSE(is_address("exec:ssh host tcp://x"));
  EXPECT_FALSE(is_address("tcp:/host"));
  EXPECT_FALSE(is_address(""));
}

}  // namespace
}  // namespace ham::veo
