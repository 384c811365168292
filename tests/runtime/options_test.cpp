// The --ham-* options and the environment.
#include "runtime/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "ham/error.hpp"

namespace ham::detail {
namespace {

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
