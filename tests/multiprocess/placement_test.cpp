// Cores of their own for host and targets: who gets them, and that nobody is bound to them.
// link: ham::ham
// timeout: 300
#include <sched.h>

#include "job/placement.hpp"
#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

std::vector<int> allowed(pid_t thread = 0) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(thread, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
  }
  return cores;
}

std::vector<int> allowed_here() { return allowed(); }

std::vector<int> allowed_in_a_thread() {
  std::vector<int> cores;
  std::thread([&] { cores = allowed(); }).join();
  return cores;
}

std::vector<int> allowed_in_a_child() {
  FILE* const child = ::popen("grep Cpus_allowed_list /proc/self/status", "r");
  char line[4096] = "";
  const bool read = child != nullptr && std::fgets(line, sizeof line, child) != nullptr;
  if (child != nullptr) ::pclose(child);
  if (!read) return {};
  std::string text = line + std::strlen("Cpus_allowed_list:\t");
  text.pop_back();
  return detail::parse_placement(text).cores;
}

void rest(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

/// Whether two cores are there that no other job has, as far as can be told.
bool two_cores_are_free() {
  detail::core_claims claims;
  return claims.take(2, detail::cores_to_hand_out()).size() == 2;
}

TEST(placement, binds_nothing_of_the_application) {
  const std::vector<int> all = allowed();
  runtime rt(nodes("shm:1"));
  for (int round = 0; round < 5; ++round) {
    offload::sync(1, fn<&rest>, 3);  // the host sleeps and wakes up
    rest(3);                         // and now the target
    EXPECT_EQ(offload::sync(1, fn<&allowed_here>), all);
    EXPECT_EQ(offload::sync(1, fn<&allowed_in_a_thread>), all);
    EXPECT_EQ(allowed(), all);
    EXPECT_EQ(allowed_in_a_thread(), all);
  }
  EXPECT_EQ(offload::sync(1, fn<&allowed_in_a_child>), all);
  EXPECT_EQ(allowed_in_a_child(), all);
}

/// The only core that `pid` may wake up on, seen while it sleeps; -1: it was never seen kept to one.
int core_of_sleeper(pid_t pid, node_t node, std::chrono::milliseconds timeout) {
  int core = -1;
  const bool seen = eventually(
      [&] {
        offload::sync(node, fn<&rest>, 0);
        rest(20);
        const std::vector<int> cores = allowed(pid);
        if (cores.size() == 1) core = cores.front();
        return core >= 0;
      },
      timeout);
  return seen ? core : -1;
}

TEST(placement, a_sleeping_target_is_kept_to_a_core_that_no_other_job_takes) {
  if (!two_cores_are_free()) GTEST_SKIP() << "there is one core only, or other jobs have the cores";
  runtime rt(nodes("shm:1"));
  const pid_t target = target_pids().front();
  const int core = core_of_sleeper(target, 1, 15s);
  double load = 0;
  if (core < 0 && ::getloadavg(&load, 1) == 1 && load > 2.0 * static_cast<double>(allowed().size()))
    GTEST_SKIP() << "the machine is too busy: the target lets go";
  ASSERT_GE(core, 0);
  detail::core_claims other;
  EXPECT_FALSE(other.take(core));
}

TEST(placement, none_and_lists_keep_nobody) {
  if (allowed().size() < 2) GTEST_SKIP() << "needs two cores";
  runtime_options options = nodes("shm:1");
  options.cpu_affinity = "none";
  runtime rt(options);
  EXPECT_EQ(core_of_sleeper(target_pids().front(), 1, 300ms), -1);
}

TEST(placement, a_job_of_more_nodes_than_cores_leaves_all_to_the_system) {
  const std::size_t cores = allowed().size();
  if (cores > 32) GTEST_SKIP() << "too many targets";
  runtime rt(nodes("shm:" + std::to_string(cores)));
  EXPECT_EQ(cores < 2 ? -1 : core_of_sleeper(target_pids().front(), 1, 300ms), -1);
  EXPECT_TRUE(allowed().size() == cores);
}

TEST(placement, cores_are_free_again_after_a_job_and_when_it_outgrows_them) {
  const std::vector<int> all = allowed();
  if (!two_cores_are_free()) GTEST_SKIP() << "there is one core only, or other jobs have the cores";
  if (all.size() > 32) GTEST_SKIP() << "too many targets";
  {
    runtime rt(nodes("shm:1"));
    offload::add_node("shm:" + std::to_string(all.size()));
    EXPECT_TRUE(eventually(two_cores_are_free, 100s));  // other jobs of this machine come and go
    EXPECT_EQ(core_of_sleeper(target_pids().front(), 1, 300ms), -1);
  }
  EXPECT_TRUE(eventually(two_cores_are_free, 100s));
}

// ---- scenarios: each is a program of its own

/// A host that binds itself, whatever the library does.
int bound_host() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(allowed().back()), &one);
  const std::vector<int> core{allowed().back()};
  runtime rt(runtime_options{});
  offload::sync(1, fn<&rest>, 3);
  if (::sched_setaffinity(0, sizeof one, &one) != 0) return 1;
  for (int round = 0; round < 5; ++round) {
    offload::sync(1, fn<&rest>, 3);
    if (allowed() != core) return 2;
  }
  std::puts("stayed");
  return 0;
}

/// A job inside the mask that it was started with.
int narrow_job() {
  runtime rt(runtime_options{});
  const std::vector<int> mine = allowed();
  bool same = true;
  for (int round = 0; round < 5; ++round) {
    offload::sync(1, fn<&rest>, 3);
    same = same && allowed() == mine && offload::sync(1, fn<&allowed_here>) == mine;
  }
  std::printf("%zu %d\n", mine.size(), static_cast<int>(same));
  return 0;
}

int bad_setting() {
  try {
    runtime rt(runtime_options{});
  } catch (const config_error& problem) {
    std::printf("%s\n", problem.what());
  }
  return 0;
}

const scenario scenarios[] = {{"bound_host", bound_host}, {"narrow_job", narrow_job}, {"bad_setting", bad_setting}};

TEST(placement, gives_way_to_a_program_that_binds_itself) {
  host_process host("bound_host", {"HAM_NODES=shm:1", "HAM_CPU_AFFINITY=auto"});
  EXPECT_EQ(host.line(), "stayed");
  EXPECT_EQ(host.wait(), 0);
}

TEST(placement, respects_the_mask_it_inherits) {
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(allowed().front()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  host_process host("narrow_job", {"HAM_NODES=shm:1"});
  EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(host.line(), "1 1");
  EXPECT_EQ(host.wait(), 0);
}

TEST(placement, says_what_it_does_not_understand) {
  host_process host("bad_setting", {"HAM_CPU_AFFINITY=automatic"});
  EXPECT_NE(host.line().find("automatic"), std::string::npos);
  EXPECT_EQ(host.wait(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
