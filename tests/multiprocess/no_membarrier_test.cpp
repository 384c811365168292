// Nodes whose kernel refuses membarrier beside nodes that have it: nobody who sleeps misses a call.
// link: ham::ham
#include "forbidden_calls.hpp"

#include <random>

#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

constexpr const char* wish = "HAM_TEST_NO_MEMBARRIER";

/// What a target says that it may use, found out behind the library's back.
bool has_membarrier() { return ::syscall(SYS_membarrier, 0, 0, 0) >= 0; }

int add_one(int x) { return x + 1; }
int pass_on(node_t to, int x) { return offload::sync(to, fn<&add_one>, x) + 1; }

/// Of each pair of nodes either side sleeps or is about to when a call comes.
int call_each_other() {
  std::mt19937 random(5);
  const auto targets = static_cast<node_t>(offload::num_nodes() - 1);
  for (int round = 0; round < rounds(200); ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    for (node_t node = 1; node <= targets; ++node) {
      auto direct = offload::async(node, fn<&add_one>, round);
      if (!direct.wait_for(30s) || direct.get() != round + 1) return 10 + node;
      auto passed_on = offload::async(node, fn<&pass_on>, node % targets + 1, round);
      if (!passed_on.wait_for(30s) || passed_on.get() != round + 2) return 20 + node;
    }
  }
  return 0;
}

offload::target_program without_membarrier() {
  offload::target_program one;
  one.command.emplace_back("/proc/self/exe");
  one.environment.emplace_back("HAM_TEST_NO_MEMBARRIER=1");
  return one;
}

TEST(no_membarrier, in_a_target) {
  runtime rt(nodes("shm:2"));
  const node_t poor = offload::add_node(without_membarrier());
  EXPECT_FALSE(offload::sync(poor, fn<&has_membarrier>)) << "the test tests nothing";
  EXPECT_EQ(call_each_other(), 0);
}

int poor_host() {
  if (!forbid_membarrier()) return 1;
  runtime rt(nodes("shm:2"));  // the targets inherit it
  const int result = call_each_other();
  std::printf("%d\n", result);
  return 0;
}

/// The application goes into its sandbox when the job is up.
int sandboxed_host() {
  runtime rt(nodes("shm:2"));
  if (call_each_other() != 0 || !forbid_membarrier()) return 1;
  std::printf("%d\n", call_each_other());
  return 0;
}

const scenario scenarios[] = {{"poor_host", poor_host}, {"sandboxed_host", sandboxed_host}};

TEST(no_membarrier, in_all_processes_of_the_job) {
  host_process host("poor_host");
  EXPECT_EQ(host.line(), "0");
  EXPECT_EQ(host.wait(), 0);
}

TEST(no_membarrier, from_some_moment_on) {
  host_process host("sandboxed_host");
  EXPECT_EQ(host.line(), "0");
  EXPECT_EQ(host.wait(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv(wish) != nullptr) {
    ::unsetenv(wish);
    if (forbid_membarrier()) ::execv("/proc/self/exe", argv);
    return 126;
  }
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
