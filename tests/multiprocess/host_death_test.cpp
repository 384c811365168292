// The host ends, in order or not: no target outlives it by more than a second, nothing is left anywhere.
// timeout: 300
#include "support.hpp"

#include <stdexcept>

using namespace ham;
using namespace ham::test;

namespace {

pid_t my_pid() { return ::getpid(); }
void work_forever() {
  volatile bool forever = true;
  while (forever) {
  }
}
node_t ask_neighbour(node_t neighbour) {
  return offload::sync(neighbour, [] { return offload::this_node(); });
}

// ---- what the host does at its end; main was wrapped, so the targets are up

int by_return() {
  print_target_pids();
  return 7;
}
int by_exit() {
  print_target_pids();
  std::exit(8);
}
int by_exception() {
  print_target_pids();
  throw std::runtime_error("nobody catches this");
}
int by_abort() {
  print_target_pids();
  std::abort();
}
int by_underscore_exit() {
  print_target_pids();
  ::_exit(9);
}
int by_pending_calls() {
  auto one = offload::async(1, fn<&work_forever>);
  one.detach();
  print_target_pids();
  return 7;
}
int wait_idle() {
  print_target_pids();
  for (;;) ::pause();
}
int wait_busy() {
  for (std::size_t node = 1; node < offload::num_nodes(); ++node) {
    offload::async(static_cast<node_t>(node), fn<&work_forever>).detach();
  }
  print_target_pids();
  for (;;) ::pause();
}
int wait_connected() {
  const auto last = static_cast<node_t>(offload::num_nodes() - 1);
  for (node_t node = 1; node < last; ++node) offload::sync(node, fn<&ask_neighbour>, node + 1);
  offload::buffer<char> memory(1, 1 << 20);
  const std::vector<char> here(1 << 20);
  offload::put_sync(here.data(), memory.ptr(), here.size());
  print_target_pids();
  for (;;) offload::sync(1, fn<&my_pid>);
}
int starts_processes() {
  // What a target starts by itself is no target, and what the host forks does not keep the targets alive.
  const int status = offload::sync(1, [] { return std::system("test -z \"$HAM_TARGET\""); });
  print_target_pids();
  return status == 0 ? 7 : 1;
}

const scenario scenarios[] = {{"by_return", by_return},
                              {"by_exit", by_exit},
                              {"by_exception", by_exception},
                              {"by_abort", by_abort},
                              {"by_underscore_exit", by_underscore_exit},
                              {"by_pending_calls", by_pending_calls},
                              {"wait_idle", wait_idle},
                              {"wait_busy", wait_busy},
                              {"wait_connected", wait_connected},
                              {"starts_processes", starts_processes}};

const std::vector<std::string> four_targets{"HAM_NODES=shm:4"};

/// Waits until all are gone; milliseconds that it took.
double expect_gone(const std::vector<pid_t>& targets) {
  const auto begin = std::chrono::steady_clock::now();
  for (const pid_t pid : targets) {
    EXPECT_TRUE(eventually([pid] { return !alive(pid); })) << "target " << pid << " outlives its host";
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs a scenario to its end; its wait status.
int end_of(const std::string& name) {
  const auto before = traces();
  host_process host(name, four_targets);
  const std::vector<pid_t> targets = parse_pids(host.line());
  EXPECT_EQ(targets.size(), 4U);
  const int status = host.wait();
  EXPECT_LT(expect_gone(targets), 5000) << "generous; the bar is one second on a quiet machine";
  EXPECT_EQ(traces(), before);
  return status;
}

TEST(host_death, return_from_main) { EXPECT_EQ(WEXITSTATUS(end_of("by_return")), 7); }
TEST(host_death, exit) { EXPECT_EQ(WEXITSTATUS(end_of("by_exit")), 8); }
TEST(host_death, underscore_exit) { EXPECT_EQ(WEXITSTATUS(end_of("by_underscore_exit")), 9); }
TEST(host_death, uncaught_exception) {
  const int status = end_of("by_exception");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}
TEST(host_death, abort) {
  const int status = end_of("by_abort");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}
TEST(host_death, return_while_a_target_computes) { EXPECT_EQ(WEXITSTATUS(end_of("by_pending_calls")), 7); }
TEST(host_death, targets_may_start_processes) { EXPECT_EQ(WEXITSTATUS(end_of("starts_processes")), 7); }

/// Kills the host in the middle of a scenario `times` times.
void kill_host(const std::string& name, int times, int signal = SIGKILL) {
  const auto before = traces();
  std::vector<double> gone_after;
  for (int i = 0; i < times; ++i) {
    host_process host(name, four_targets);
    const std::vector<pid_t> targets = parse_pids(host.line());
    ASSERT_EQ(targets.size(), 4U);
    ::kill(host.pid(), signal);
    host.wait();
    gone_after.push_back(expect_gone(targets));
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_EQ(traces(), before);
  const double p50 = quantile(gone_after, 0.5);
  std::printf("host killed, %s: %d rounds, targets gone after p50 %.2f ms, longest %.2f ms\n", name.c_str(), times, p50,
              gone_after.back());
  EXPECT_LT(p50, 1000);
}

TEST(host_death, kill_9_targets_idle) { kill_host("wait_idle", rounds(20)); }
TEST(host_death, kill_9_targets_compute) { kill_host("wait_busy", std::min(rounds(10), 200)); }
TEST(host_death, kill_9_calls_under_way_and_targets_connected) {
  kill_host("wait_connected", std::min(rounds(10), 200));
}
TEST(host_death, sigterm_and_sigint) {
  kill_host("wait_idle", 1, SIGTERM);
  kill_host("wait_busy", 1, SIGINT);
}

TEST(host_death, the_temporary_folder_stays_empty) {
  char folder[] = "/tmp/traces-of-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string variable = std::string("TMPDIR=") + folder;
  {
    host_process host("wait_connected", {"HAM_NODES=shm:4", variable});
    const auto targets = parse_pids(host.line());
    ::kill(host.pid(), SIGKILL);
    host.wait();
    expect_gone(targets);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
