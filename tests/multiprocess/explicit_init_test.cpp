// HAM_EXPLICIT in a program with the wrapped main: ham_init in every process, options of the command line.
#define HAM_EXPLICIT
#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int double_it(int value) { return 2 * value; }

int start_by_command_line(int argc, char** argv, bool older_form) {
  older_form ? offload::ham_init(argc, argv) : offload::ham_init(&argc, &argv);
  std::string line = std::to_string(offload::num_nodes()) + " " + std::to_string(offload::sync(1, fn<&double_it>, 21));
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  print_target_pids();
  offload::ham_finalise();
  try {
    offload::sync(1, fn<&double_it>, 1);
  } catch (const config_error&) {
    std::printf("ended\n");
  }
  return 0;
}

TEST(explicit_init, main_is_not_preceded_by_a_start) {
  EXPECT_THROW((void)offload::num_nodes(), config_error);
  EXPECT_TRUE(children().empty());
}

TEST(explicit_init, options_are_taken_and_removed) {
  host_process host("command_line", {}, {"first", "--ham-nodes=shm:3", "second", "--ham-cpu-affinity", "0", "--other"});
  EXPECT_EQ(host.line(), "4 42 first second --other");
  const auto targets = parse_pids(host.line());
  EXPECT_EQ(targets.size(), 3U);
  EXPECT_EQ(host.line(), "ended");
  EXPECT_EQ(host.wait(), 0);
  for (const pid_t pid : targets) EXPECT_TRUE(eventually([pid] { return !alive(pid); }));
}

TEST(explicit_init, the_published_option_and_the_older_form) {
  host_process host("older_form", {}, {"first", "--ham-process-count", "3", "--other"});
  EXPECT_EQ(host.line(), "3 42 first --ham-process-count 3 --other") << "the command line stays as it is";
  EXPECT_EQ(parse_pids(host.line()).size(), 2U);
  EXPECT_EQ(host.line(), "ended");
  EXPECT_EQ(host.wait(), 0);
}

TEST(explicit_init, unknown_options_are_errors) {
  host_process host("command_line", {}, {"--ham-nodse=shm:3"});
  EXPECT_NE(host.rest().find("--ham-nodse"), std::string::npos);
  EXPECT_NE(host.wait(), 0);
}

TEST(explicit_init, help_and_handlers) {
  host_process help("command_line", {}, {"--ham-help"});
  EXPECT_NE(help.rest().find("--ham-nodes"), std::string::npos);
  EXPECT_EQ(help.wait(), 0);
  host_process list("command_line", {}, {"--ham-list-handlers"});
  EXPECT_NE(list.rest().find("double_it"), std::string::npos);
  EXPECT_EQ(list.wait(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) {
    return offload::ham_init(&argc, &argv) ? 1 : 0;  // false after the host has ended
  }
  if (const char* scenario = std::getenv("HAM_TEST_SCENARIO")) {
    return start_by_command_line(argc, argv, std::string(scenario) == "older_form");
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
