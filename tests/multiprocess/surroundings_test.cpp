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

const scenario scenarios[] = {{"closed_descriptors", closed_descriptors}, {"no_environment", no_environment}};

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

int main(int argc, char** argv) { return ham::test::run(argc, argv); }
