// Starting and ending jobs: numbers of targets, explicit starts, pinning, settings that cannot be used.
// link: ham::ham
// timeout: 300
#include "support.hpp"

#include <sched.h>

using namespace ham;
using namespace ham::test;

namespace {

pid_t my_pid() { return ::getpid(); }
int count_cores() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  return CPU_COUNT(&cpus);
}
int only_core() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &cpus)) return CPU_COUNT(&cpus) == 1 ? i : -1;
  }
  return -1;
}
std::string variable(const std::string& name) {
  const char* const text = std::getenv(name.c_str());
  return text == nullptr ? "(unset)" : text;
}

/// The cores of this process, whatever they are.
std::vector<int> usable_cores() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  std::vector<int> result;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &cpus)) result.push_back(i);
  }
  return result;
}

class targets : public testing::TestWithParam<int> {};

TEST_P(targets, start_answer_and_end) {
  const int count = GetParam();
  const std::size_t files = open_files();
  std::vector<pid_t> pids;
  {
    runtime rt(nodes("shm:" + std::to_string(count)));
    EXPECT_EQ(rt.num_nodes(), static_cast<std::size_t>(count) + 1);
    EXPECT_EQ(offload::num_nodes(), static_cast<std::size_t>(count) + 1);
    EXPECT_EQ(rt.this_node(), 0);
    EXPECT_TRUE(offload::is_host());
    for (node_t node = 1; node <= count; ++node) {
      EXPECT_EQ(offload::sync(node, [] { return offload::this_node(); }), node);
      EXPECT_FALSE(offload::sync(node, [] { return offload::is_host(); }));
      EXPECT_EQ(offload::sync(node, [] { return offload::num_nodes(); }), static_cast<std::size_t>(count) + 1);
      const offload::node_descriptor described = offload::get_node_descriptor(node);
      EXPECT_EQ(described.pid(), offload::sync(node, fn<&my_pid>));
      EXPECT_EQ(described.transport(), "shm");
      EXPECT_EQ(described.node(), node);
      EXPECT_FALSE(described.name().empty());
      EXPECT_GT(described.cores(), 0U);
      EXPECT_GT(described.memory_bytes(), 0U);
    }
    pids = target_pids();
    EXPECT_EQ(std::set<pid_t>(pids.begin(), pids.end()), children());
  }
  for (const pid_t pid : pids) EXPECT_FALSE(alive(pid)) << "ended before the destructor returns";
  EXPECT_EQ(open_files(), files);
}
INSTANTIATE_TEST_SUITE_P(one_to_sixteen, targets, testing::Range(1, 17));

TEST(start_stop, no_targets_at_all) {
  runtime rt(nodes("shm:0"));
  EXPECT_EQ(offload::num_nodes(), 1U);
  EXPECT_EQ(offload::sync(0, fn<&my_pid>), ::getpid());
  EXPECT_THROW(offload::sync(1, fn<&my_pid>), call_error);
}

TEST(start_stop, again_and_again) {
  const auto before = traces();
  const std::size_t files = open_files();
  for (int i = 0; i < rounds(20); ++i) {
    runtime rt(nodes("shm:2"));
    ASSERT_NE(offload::sync(1, fn<&my_pid>), offload::sync(2, fn<&my_pid>));
  }
  EXPECT_EQ(open_files(), files);
  EXPECT_EQ(traces(), before);
  EXPECT_TRUE(children().empty());
}

TEST(start_stop, at_once_without_a_call) {
  for (int i = 0; i < 10; ++i) runtime rt(nodes("shm:3"));
  EXPECT_TRUE(children().empty());
}

TEST(start_stop, nothing_is_up_before_and_after) {
  EXPECT_THROW(offload::sync(1, fn<&my_pid>), config_error);
  { runtime rt(nodes("shm:1")); }
  EXPECT_THROW(offload::sync(1, fn<&my_pid>), config_error);
  EXPECT_THROW((void)offload::num_nodes(), config_error);
}

TEST(start_stop, beside_a_loopback_job) {
  runtime processes(nodes("shm:1"));
  runtime threads(nodes("loopback:2"));
  EXPECT_EQ(offload::num_nodes(), 3U);
  EXPECT_EQ(offload::sync(2, fn<&my_pid>), ::getpid());
  const auto scope = processes.use();
  EXPECT_EQ(offload::num_nodes(), 2U);
  EXPECT_NE(offload::sync(1, fn<&my_pid>), ::getpid());
}

TEST(start_stop, targets_inherit_the_environment_but_are_no_targets_to_their_children) {
  ::setenv("HAM_TEST_INHERITED", "yes", 1);
  runtime rt(nodes("shm:1"));
  ::unsetenv("HAM_TEST_INHERITED");
  EXPECT_EQ(offload::sync(1, fn<&variable>, std::string("HAM_TEST_INHERITED")), "yes");
  EXPECT_EQ(offload::sync(1, fn<&variable>, std::string("HAM_TARGET")), "(unset)");
}

std::string own_comm() {
  std::string name;
  std::getline(std::ifstream("/proc/self/comm"), name);
  return name;
}
std::string own_command_line() {
  std::string words;
  std::getline(std::ifstream("/proc/self/cmdline"), words, '\0');
  return words;
}

TEST(start_stop, targets_have_names_of_their_own) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").filename();
  runtime rt(nodes("shm:2,emulated:1"));
  for (const node_t node : {1, 2, 3}) {
    const std::string mark = ":ham" + std::to_string(node);
    EXPECT_EQ(offload::sync(node, fn<&own_comm>), program.substr(0, 15 - mark.size()) + mark) << "ps, top, gdb";
    EXPECT_EQ(offload::sync(node, fn<&own_command_line>), program + mark) << "ps -f";
    EXPECT_EQ(offload::sync(node, [] { return std::string(::program_invocation_name); }),
              std::filesystem::read_symlink("/proc/self/exe").string())
        << "main finds its file";
  }
}

TEST(start_stop, futures_may_outlive_their_runtime) {
  offload::future<int> settled;
  offload::future<int> pending;
  {
    runtime rt(nodes("shm:1"));
    settled = offload::async(1, [] { return 5; });
    settled.wait();
    pending = offload::async(1, [] {
      std::this_thread::sleep_for(300ms);
      return 6;
    });
  }
  EXPECT_EQ(settled.get(), 5);
  EXPECT_THROW((void)pending.get(), node_failure);
}

TEST(pinning, group_of_nodes) {
  const std::vector<int> cores = usable_cores();
  const int last = cores.back();
  runtime rt(nodes("shm:1@" + std::to_string(last) + ",shm:1"));
  EXPECT_EQ(offload::sync(1, fn<&only_core>), last);
  EXPECT_EQ(offload::sync(2, fn<&count_cores>), static_cast<int>(cores.size())) << "the other one is not pinned";
  EXPECT_EQ(count_cores(), static_cast<int>(cores.size())) << "nor is the host";
}

TEST(pinning, several_cores_in_turn) {
  const std::vector<int> cores = usable_cores();
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  runtime rt(nodes("shm:3@" + std::to_string(cores[1]) + "+" + std::to_string(cores[0])));
  EXPECT_EQ(offload::sync(1, fn<&only_core>), cores[1]);
  EXPECT_EQ(offload::sync(2, fn<&only_core>), cores[0]);
  EXPECT_EQ(offload::sync(3, fn<&only_core>), cores[1]);
}

// ---- scenarios: each is a program of its own

int affinity_by_environment() {
  runtime rt(runtime_options{});
  std::printf("%d %d %d\n", only_core(), offload::sync(1, fn<&only_core>), offload::sync(2, fn<&only_core>));
  return 0;
}

int default_nodes() {
  runtime rt(runtime_options{});
  std::printf("%zu\n", offload::num_nodes());
  return 0;
}

int bad_settings() {
  try {
    runtime rt(runtime_options{});
    return 1;
  } catch (const config_error& problem) {
    std::printf("%s\n", problem.what());
    return 0;
  }
}

const scenario scenarios[] = {{"affinity_by_environment", affinity_by_environment},
                              {"default_nodes", default_nodes},
                              {"bad_settings", bad_settings}};

TEST(pinning, by_the_environment) {
  const std::vector<int> cores = usable_cores();
  const int last = cores.back();
  const std::string list = std::to_string(last) + "," + std::to_string(cores[0]);
  host_process host("affinity_by_environment", {"HAM_NODES=shm:2", "HAM_CPU_AFFINITY=" + list});
  EXPECT_EQ(host.line(), std::to_string(last) + " " + std::to_string(cores[0]) + " " + std::to_string(last));
  EXPECT_EQ(host.wait(), 0);
}

TEST(settings, default_is_one_target) {
  host_process host("default_nodes", {"HAM_NODES="});
  EXPECT_EQ(host.line(), "2");
  EXPECT_EQ(host.wait(), 0);
}

TEST(settings, damaged_ones_are_told_clearly) {
  const auto problem = [](const std::string& setting) {
    host_process host("bad_settings", {setting});
    const std::string text = host.line();
    EXPECT_EQ(host.wait(), 0) << setting << " was taken";
    return text;
  };
  for (const char* text : {"smh:2", "shm:", "shm:two", "shm:-1", "shm:99999999", "shm:2,", ",shm:2", "shm:2;shm:1",
                           "shm:1,loopback:1", "loopback:1@0", "shm:1@", "shm:1@x", "shm:18446744073709551617"}) {
    const std::string what = problem(std::string("HAM_NODES=") + text);
    EXPECT_TRUE(what.find("HAM_NODES") != std::string::npos || what.find("list of cores") != std::string::npos)
        << text << ": " << what;
  }
  EXPECT_NE(problem("HAM_CPU_AFFINITY=0,x").find("list of cores"), std::string::npos);
  EXPECT_NE(problem("HAM_CPU_AFFINITY=4095").find("core 4095"), std::string::npos);
}

TEST(settings, a_target_that_cannot_be_pinned_or_started_is_told) {
  // The child stays where it may run; the host must come up or say why, but never hang.
  try {
    runtime rt(nodes("shm:1@4095"));
    EXPECT_GT(offload::sync(1, fn<&count_cores>), 0);
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("4095"), std::string::npos) << problem.what();
  }
}

TEST(settings, a_stray_target_variable_is_told) {
  int status = 0;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("HAM_TARGET", "shm:77", 1);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    ::execl("/proc/self/exe", "test", nullptr);
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_NE(status, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
