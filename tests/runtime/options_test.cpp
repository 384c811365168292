// Reading of HAM_NODES, lists of cores and the --ham-* options.
#include "runtime/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "ham/error.hpp"

namespace ham::detail {
namespace {

std::string problem_of(const std::string& text) {
  try {
    (void)parse_nodes(text);
  } catch (const config_error& problem) {
    return problem.what();
  }
  ADD_FAILURE() << "\"" << text << "\" was taken";
  return {};
}

TEST(parse_nodes, groups) {
  const auto one = parse_nodes("shm");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].transport, "shm");
  EXPECT_EQ(one[0].count, 1U);
  EXPECT_TRUE(one[0].cpus.empty());
  const auto several = parse_nodes("shm:2,shm:3@1+3-5,shm@7");
  ASSERT_EQ(several.size(), 3U);
  EXPECT_EQ(several[0].count, 2U);
  EXPECT_EQ(several[1].count, 3U);
  EXPECT_EQ(several[1].cpus, (std::vector<int>{1, 3, 4, 5}));
  EXPECT_EQ(several[2].count, 1U);
  EXPECT_EQ(several[2].cpus, (std::vector<int>{7}));
  EXPECT_EQ(parse_nodes("loopback:4,loopback:1").size(), 2U);
  EXPECT_EQ(parse_nodes("shm:0")[0].count, 0U);
}

TEST(parse_nodes, damaged_texts_are_shown_with_the_place) {
  for (const char* text : {"",
                           ",",
                           "shm,",
                           ",shm",
                           "shm,,shm",
                           "shm:",
                           "shm:x",
                           "shm:-1",
                           "shm: 1",
                           " shm",
                           "shm:1 ",
                           "SHM",
                           "shm:1:2",
                           "tcp://host:1",
                           "shm:0x2",
                           "shm:1e3",
                           "shm:4001",
                           "shm:4000,shm:1",
                           "shm:99999999999999",
                           "shm:99999999999999999999999999",
                           "shm,loopback",
                           "loopback@1",
                           "shm;shm"}) {
    const std::string what = problem_of(text);
    EXPECT_NE(what.find("HAM_NODES=\"" + std::string(text) + "\""), std::string::npos) << what;
  }
  for (const char* text :
       {"shm@", "shm@x", "shm@1+", "shm@+1", "shm@3-1", "shm@-1", "shm@4096", "shm@1,2", "shm@0-99999"}) {
    EXPECT_FALSE(problem_of(text).empty()) << text;
  }
  EXPECT_NE(problem_of("shm:2,smh:1").find("\"smh:1\""), std::string::npos);
  EXPECT_NE(problem_of("shm:2x").find("\"x\" is left over"), std::string::npos);
}

TEST(parse_cores, lists_and_ranges) {
  EXPECT_EQ(parse_cores("0", ','), (std::vector<int>{0}));
  EXPECT_EQ(parse_cores("3,1-2,4095", ','), (std::vector<int>{3, 1, 2, 4095}));
  for (const char* text :
       {"", ",", "1,", ",1", "a", "1-", "-1", "2-1", "4096", "0-4096", "1+2", "1 ", "99999999999999999999"}) {
    EXPECT_THROW((void)parse_cores(text, ','), config_error) << text;
  }
}

class command_line_options : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("HAM_NODES");
    ::unsetenv("HAM_CPU_AFFINITY");
  }
  void TearDown() override { SetUp(); }

  /// Takes the options out of `words`; what is left of them.
  std::vector<std::string> take(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    char** argv = pointers.data();
    take_options(argc, argv, options);
    EXPECT_EQ(argv[argc], nullptr);
    return {argv, argv + argc};
  }
  runtime_options options;
};

TEST_F(command_line_options, are_removed) {
  EXPECT_EQ(take({"app", "-v", "--ham-nodes=shm:5", "file", "--ham-cpu-affinity", "0,1", "--hamlet"}),
            (std::vector<std::string>{"app", "-v", "file", "--hamlet"}));
  EXPECT_EQ(options.nodes, "shm:5");
  EXPECT_EQ(options.cpu_affinity, "0,1");
}

TEST_F(command_line_options, come_before_the_environment_and_that_before_the_default) {
  EXPECT_EQ(take({"app"}), (std::vector<std::string>{"app"}));
  EXPECT_EQ(options.nodes, "shm:1");
  ::setenv("HAM_NODES", "shm:7", 1);
  options = {};
  (void)take({"app"});
  EXPECT_EQ(options.nodes, "shm:7");
  (void)take({"app", "--ham-nodes", "shm:8"});
  EXPECT_EQ(options.nodes, "shm:8");
}

TEST_F(command_line_options, mistakes_are_errors) {
  EXPECT_THROW((void)take({"app", "--ham-nodes"}), config_error);
  EXPECT_THROW((void)take({"app", "--ham-node=shm:1"}), config_error);
  EXPECT_THROW((void)take({"app", "--ham-"}), config_error);
}

TEST_F(command_line_options, an_empty_command_line) {
  char* nothing[] = {nullptr};
  int argc = 0;
  char** argv = nothing;
  take_options(argc, argv, options);
  EXPECT_EQ(argc, 0);
}

}  // namespace
}  // namespace ham::detail
