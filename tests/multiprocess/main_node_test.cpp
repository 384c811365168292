// HAM_MAIN_NODE: main runs on a target while the host serves, over each kind of target and with each kind of start.
// link: ham::ham
// timeout: 300
#include "sanitizer_notes.hpp"
#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

/// Of the program with the wrapped main.
class program_run {
 public:
  explicit program_run(const std::vector<std::string>& environment, const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> all{"TEST_PROGRAM=" HAM_MAIN_NODE_PROGRAM};
    all.insert(all.end(), environment.begin(), environment.end());
    host_process host("program", all, arguments);
    text = without_sanitizer_notes(host.rest());
    status = host.wait();
  }
  [[nodiscard]] int exit_status() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

  std::string text;
  int status = 0;
};

int become_program() {
  ::unsetenv("HAM_TEST_SCENARIO");
  const char* const program = std::getenv("TEST_PROGRAM");
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  words.front() = program;
  ::execv(program, base::pointers(words).data());
  return 126;
}
const scenario becoming_program("program", become_program);

std::string expected(int node, int nodes, const std::string& arguments) {
  std::string text = "main on node " + std::to_string(node) + " of " + std::to_string(nodes) + ":" + arguments + "\n";
  text += "calls reach";
  for (int i = 0; i < nodes; ++i) text += " " + std::to_string(i);
  return text + "\nsum on the host 500\nback and forth 42\n";
}

class main_node : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::vector<std::string> environment() const {
    return {"HAM_NODES=" + GetParam(), "HAM_MAIN_NODE=1", "HAM_VEO_APPLICATION=" HAM_MAIN_NODE_PROGRAM ".ve.so"};
  }
};

TEST_P(main_node, main_runs_on_the_target_with_the_arguments_of_the_host) {
  const program_run run(environment(), {"a b", "3", "", "--other=x"});
  EXPECT_EQ(run.text, expected(1, 2, " a b 3  --other=x"));
  EXPECT_EQ(run.exit_status(), 3);
}

TEST_P(main_node, exit_ends_the_job_with_its_status) {
  const program_run run(environment(), {"exit"});
  EXPECT_EQ(run.text, expected(1, 2, " exit"));
  EXPECT_EQ(run.exit_status(), 4);
}

TEST_P(main_node, a_crash_of_main_is_an_error_of_the_host) {
  const program_run run(environment(), {"crash"});
  EXPECT_TRUE(run.text.starts_with(expected(1, 2, " crash"))) << run.text;
  EXPECT_NE(run.text.find("ham: main has not come to its end: node 1 "), std::string::npos) << run.text;
  EXPECT_EQ(run.exit_status(), 2);
}

INSTANTIATE_TEST_SUITE_P(over, main_node,
                         testing::Values("shm:1", "exec:" HAM_MAIN_NODE_PROGRAM, "emulated:1", "veo:1", "vedma:1"),
                         [](const auto& now) { return now.param.substr(0, now.param.find(':')); });

TEST(main_node_ends, in_a_call_of_another_node_and_on_another_thread) {
  EXPECT_EQ(program_run({"HAM_MAIN_NODE=1"}, {"exit_elsewhere"}).exit_status(), 5);
  EXPECT_EQ(program_run({"HAM_MAIN_NODE=1"}, {"exit_in_call"}).exit_status(), 6);
}

/// glibc exits on that thread after it has destroyed its thread-local variables, and never frees those that exit makes,
/// which a leak detector reports.
TEST(main_node_ends, with_the_last_thread) {
  const program_run run({"HAM_MAIN_NODE=1", "ASAN_OPTIONS=detect_leaks=0"}, {"last_thread"});
  EXPECT_EQ(run.text, expected(1, 2, " last_thread") + "a call after main 0\n");
  EXPECT_EQ(run.exit_status(), 0);
}

TEST(main_node_ends, without_a_word) {
  const program_run run({"HAM_MAIN_NODE=1"}, {"vanish"});
  EXPECT_NE(run.text.find("ham: main has not come to its end: node 1 "), std::string::npos) << run.text;
  EXPECT_EQ(run.exit_status(), 2);
  const program_run thrown({"HAM_MAIN_NODE=1"}, {"throw"});
  EXPECT_NE(thrown.text.find("nobody catches this"), std::string::npos) << thrown.text;
  EXPECT_NE(thrown.text.find("killed by signal 6"), std::string::npos) << thrown.text;
  EXPECT_EQ(thrown.exit_status(), 2);
}

TEST(main_node_ends, when_it_is_removed) {
  const program_run run({"HAM_MAIN_NODE=1"}, {"removes_itself"});
  EXPECT_NE(run.text.find("it was removed from the job"), std::string::npos) << run.text;
  EXPECT_EQ(run.exit_status(), 2);
}

TEST(main_node_ends, after_the_destructors_of_its_process) {
  const program_run run({"HAM_MAIN_NODE=1"}, {"slow_end", "3"});
  EXPECT_NE(run.text.find("a destructor has ended"), std::string::npos) << run.text;
  EXPECT_EQ(run.exit_status(), 3);
}

TEST(main_node_start, has_the_progress_thread_of_the_host) {
  const program_run run({"HAM_MAIN_NODE=1", "HAM_PROGRESS_THREAD=1"}, {"waits_for_call", "3"});
  EXPECT_EQ(run.exit_status(), 3) << run.text;
}

TEST(main_node_start, is_for_the_first_runtime_of_the_process) {
  const program_run run({"HAM_MAIN_NODE=1"}, {"another"});
  EXPECT_EQ(run.text, expected(1, 2, " another") + "the second runtime has node 0\n");
}

TEST(main_node_ends, with_its_host) {
  const program_run run({"HAM_MAIN_NODE=1"}, {"host_ends"});
  EXPECT_EQ(run.exit_status(), 7) << run.text;
}

TEST(main_node_ends, after_objects_of_its_own_on_the_host) {
  const program_run run({"HAM_MAIN_NODE=1"}, {"object"});
  EXPECT_EQ(run.text, expected(1, 2, " object") + "object of node 0 destroyed\n");
  EXPECT_EQ(run.exit_status(), 0);
}

TEST(main_node_choice, is_any_node_of_the_job) {
  const program_run run({"HAM_NODES=shm:3"}, {"--ham-main-node=2", "it"});
  EXPECT_NE(run.text.find("main on node 2 of 4: it\ncalls reach 0 1 2 3\n"), std::string::npos) << run.text;
}

TEST(main_node_choice, of_the_command_line_goes_before_the_environment) {
  const program_run run({"HAM_MAIN_NODE=1"}, {"--ham-main-node=0"});
  EXPECT_TRUE(run.text.starts_with("main on node 0 of 2:\n")) << run.text;
}

TEST(main_node_choice, that_cannot_be_is_refused) {
  const auto refusal = [](const char* nodes, const char* node) {
    const program_run run({std::string("HAM_NODES=") + nodes, std::string("HAM_MAIN_NODE=") + node});
    EXPECT_EQ(run.exit_status(), 2);
    return run.text;
  };
  EXPECT_EQ(refusal("shm:2", "3"),
            "ham: --ham-main-node=3: the job has nodes 0 to 2; choose one of them, or ask for more targets\n");
  EXPECT_EQ(refusal("loopback:1", "1"),
            "ham: --ham-main-node=1: these targets are threads of this process, where main runs; choose another "
            "transport\n");
  EXPECT_EQ(refusal("shm:1", "one"), "ham: HAM_MAIN_NODE=one is no number from 0 to 4095\n");
  EXPECT_EQ(refusal("shm:1", "-1"), "ham: HAM_MAIN_NODE=-1 is no number from 0 to 4095\n");
}

TEST(main_node_choice, is_a_waiting_process) {
  const std::string program = "TEST_PROGRAM=" HAM_MAIN_NODE_PROGRAM;
  host_process there("program", {program, "HAM_TCP_SECURITY=off"}, {"--ham-serve=127.0.0.1:0", "its", "own"});
  const std::string at = there.line();
  const std::string nodes = "HAM_NODES=tcp://" + at.substr(at.rfind(' ') + 1);
  for (int i = 1; i < 3; ++i) {
    const program_run run({"HAM_TCP_SECURITY=off", nodes, "HAM_MAIN_NODE=1"}, {"given", std::to_string(i)});
    EXPECT_EQ(run.text, "") << "what main prints is printed there";
    EXPECT_EQ(run.exit_status(), i);
    EXPECT_EQ(there.line(), "main on node 1 of 2: given " + std::to_string(i));
    EXPECT_EQ(there.line(), "calls reach 0 1");
    EXPECT_EQ(there.line(), "sum on the host 500");
    EXPECT_EQ(there.line(), "back and forth 42");
  }
}

int report(node_t node, int value) {
  std::printf("node %d: %d\n", static_cast<int>(node), value);
  std::fflush(stdout);
  return value;
}

/// Each process comes here; the constructor returns where main runs.
int explicit_runtime() {
  runtime_options options;
  options.main_node = 1;
  int status = 0;
  {
    const runtime rt(options);
    status = offload::sync(0, fn<&report>, rt.this_node(), static_cast<int>(rt.num_nodes()));
    status += static_cast<int>(offload::this_node());
  }
  try {
    static_cast<void>(offload::num_nodes());
  } catch (const config_error&) {
    std::puts("no runtime is left");
  }
  {
    const runtime another(nodes("loopback:1"));
    std::printf("another one has %zu nodes\n", another.num_nodes());
  }
  return status;
}
const scenario explicitly("explicit", explicit_runtime);

TEST(main_node_start, of_a_runtime_as_an_object) {
  host_process host("explicit");
  EXPECT_EQ(host.line(), "node 1: 2");
  EXPECT_EQ(host.line(), "no runtime is left");
  EXPECT_EQ(host.line(), "another one has 2 nodes");
  EXPECT_EQ(host.rest(), "");
  const int status = host.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << "the status that main gives after its runtime's end";
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
