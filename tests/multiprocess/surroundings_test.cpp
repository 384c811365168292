// What a process may be started with, or do to itself: closed standard descriptors, no environment, small limits.
// timeout: 300
#include "support.hpp"

#include <sys/resource.h>

using namespace ham;
using namespace ham::test;

namespace {

// ---- scenarios: each a host of one target; 7 is success

int standard_descriptors() {
  int open = 0;
  for (int number = 0; number < 3; ++number) open += ::fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  return open;
}
int lines_of(int count) {
  for (int i = 0; i < count; ++i) {
    std::printf("a line of output that must not reach shared memory\n");
    static_cast<void>(!::write(STDERR_FILENO, "and another one\n", 16));
  }
  return std::fflush(stdout);
}
int echo(int value) { return value; }

int closed_descriptors() {
  if (standard_descriptors() != 0) return 1;
  lines_of(5000);
  offload::sync(1, fn<&lines_of>, 5000);
  if (offload::sync(1, fn<&standard_descriptors>) != 0) return 2;
  if (offload::add_node("shm:2") != 2) return 3;
  if (offload::sync(2, fn<&standard_descriptors>) != 0) return 4;
  offload::sync(
      2, [](node_t other) { return offload::sync(other, fn<&lines_of>, 5000); }, node_t{3});
  lines_of(5000);
  std::vector<int> numbers(1 << 16, 3);
  const auto there = offload::allocate<int>(1, numbers.size());
  offload::put_sync(numbers.data(), there, numbers.size());
  std::vector<int> back(numbers.size());
  offload::get_sync(there, back.data(), back.size());
  offload::context inside(2);
  return back == numbers && offload::sync(inside, fn<&echo>, 5) == 5 && standard_descriptors() == 0 ? 7 : 5;
}

int no_environment() {
  ::clearenv();
  if (offload::sync(offload::add_node("shm:1"), fn<&echo>, 3) != 3) return 1;
  environ = nullptr;
  return offload::sync(offload::add_node("shm:1"), fn<&echo>, 4) == 4 ? 7 : 2;
}

/// The limit is set after the start: 7 if an error says so and the target lives.
int small_files() {
  const rlimit small{std::size_t{64} << 20, RLIM_INFINITY};
  const auto set_limit = [](std::size_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    return ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  offload::sync(1, set_limit, small.rlim_cur);
  ::setrlimit(RLIMIT_FSIZE, &small);
  for (const node_t node : {1, 0}) {
    try {
      (void)offload::allocate<char>(node, std::size_t{100} << 20);
      return 1;
    } catch (const config_error& problem) {
      if (std::string(problem.what()).find("ulimit -f") == std::string::npos) return 2;
    }
    if (offload::sync(node, fn<&echo>, 3) != 3) return 3;
    offload::free(offload::allocate<char>(node, std::size_t{30} << 20));
  }
  const rlimit tiny{1 << 20, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &tiny);
  try {
    offload::add_node("shm:1");
    return 4;
  } catch (const config_error& problem) {
    if (std::string(problem.what()).find("ulimit -f") == std::string::npos) return 5;
  }
  return offload::sync(1, fn<&echo>, 4) == 4 ? 7 : 6;
}

/// Another thread goes on calling after main has ended, and is not cut short.
int main_ends_first() {
  print_target_pids();
  std::thread([] {
    std::this_thread::sleep_for(200ms);
    if (offload::sync(1, fn<&echo>, 4) == 4) std::puts("the other thread has ended");
    std::fflush(stdout);
  }).detach();
  ::pthread_exit(nullptr);
}

const scenario scenarios[] = {{"closed_descriptors", closed_descriptors},
                              {"no_environment", no_environment},
                              {"small_files", small_files},
                              {"main_ends_first", main_ends_first}};

/// The wait status of a scenario in a process that `prepare` has changed before exec.
template <class Prepare>
int status_of(const std::string& name, Prepare prepare) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("HAM_TEST_SCENARIO", name.c_str(), 1);
    prepare();
    ::execl("/proc/self/exe", "app", nullptr);
    ::_exit(126);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

}  // namespace

TEST(surroundings, closed_standard_descriptors_stay_closed) {
  const int status = status_of("closed_descriptors", [] {
    for (int number = 0; number < 3; ++number) ::close(number);
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(surroundings, targets_start_without_an_environment) {
  const int status = status_of("no_environment", [] {});
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(surroundings, the_limit_of_file_sizes_is_an_error) {
  const int status = status_of("small_files", [] {});
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(surroundings, the_limit_of_file_sizes_at_the_start_is_an_error) {
  const int status = status_of("no_environment", [] {
    const rlimit tiny{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &tiny);
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 2) << "as of every start that fails";
}

TEST(surroundings, main_may_end_before_other_threads) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "leak detection runs when main's thread is gone with its stack";
#endif
  host_process host("main_ends_first");
  const std::vector<pid_t> targets = parse_pids(host.line());
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(host.line(), "the other thread has ended");
  int status = 0;
  ASSERT_TRUE(eventually([&] { return ::waitpid(host.pid(), &status, WNOHANG) == host.pid(); }));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(eventually([&] { return !ham::test::alive(targets[0]); }));
}

int main(int argc, char** argv) { return ham::test::run(argc, argv); }
