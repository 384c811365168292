// Kernels, and filters in front of them, that refuse system calls: a job does without, or says at its start which one
// it needs. Nothing hangs.
// timeout: 300
#include "forbidden_calls.hpp"
#include "sanitizer_notes.hpp"

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>

#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int echo(int value) { return value; }
void die() { ::raise(SIGKILL); }
std::size_t length(const std::vector<double>& of) { return of.size(); }

/// A job with all that it usually does; 7: nothing was missing.
int a_job() {
  std::vector<double> numbers(1 << 17, 3);
  const auto there = offload::allocate<double>(1, numbers.size());
  offload::put_sync(numbers.data(), there, numbers.size());
  std::vector<double> back(numbers.size());
  offload::get_sync(there, back.data(), back.size());
  if (back != numbers || offload::sync(1, fn<&length>, numbers) != numbers.size()) return 1;
  {
    offload::context queue(1);
    if (offload::sync(queue, fn<&echo>, 3) != 3) return 2;
  }
  const node_t late = offload::add_node("shm:1");
  const auto ask = [](node_t other) { return offload::sync(other, fn<&echo>, 4); };
  if (offload::sync(1, ask, late) != 4) return 3;
  auto pending = offload::async(late, fn<&die>);
  if (!pending.wait_for(30s)) return 4;
  try {
    pending.get();
    return 5;
  } catch (const node_failure&) {
  }
  return offload::sync(1, fn<&echo>, 5) == 5 ? 7 : 6;
}

const scenario scenarios[] = {{"a_job", a_job}};

struct outcome {
  int status = -1;  ///< exit status; -1: killed
  std::string said;
};

/// The job in a process that `prepare` has changed before exec; false: it could not.
template <class Prepare>
outcome job_after(Prepare prepare) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what is left behind becomes a child of this process
  const std::set<pid_t> own = children();
  int said[2];
  if (::pipe(said) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("HAM_TEST_SCENARIO", "a_job", 1);
    ::setenv("HAM_START_TIMEOUT", "100", 1);  // more than this test waits
    ::dup2(said[1], STDERR_FILENO);
    ::close(said[0]);
    ::close(said[1]);
    ::alarm(60);  // stays across exec
    if (!prepare()) ::_exit(125);
    ::execl(program.c_str(), "app", nullptr);
    ::_exit(126);
  }
  ::close(said[1]);
  outcome result;
  std::array<char, 4096> text{};
  for (ssize_t got = 0; (got = ::read(said[0], text.data(), text.size())) > 0;) {
    result.said.append(text.data(), static_cast<std::size_t>(got));
  }
  ::close(said[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  EXPECT_TRUE(eventually([&] { return children() == own; })) << "processes are left: " << result.said;
  return result;
}

/// Without the line about a target that the job has lost on purpose.
std::string without_loss(const std::string& said) {
  std::istringstream lines(said);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("ham: node 2 is lost: its process was killed by signal 9")) rest += line + '\n';
  }
  return rest;
}

/// In a process for which some calls fail.
outcome job_without(std::initializer_list<long> calls, int error) {
  return job_after([&] { return std::ranges::all_of(calls, [&](long call) { return forbid(call, error); }); });
}

constexpr int errors[] = {EPERM, ENOSYS};

}  // namespace

TEST(refused_calls, that_a_job_does_without) {
  const struct {
    const char* name;
    long number;
  } calls[] = {{"membarrier", SYS_membarrier},
               {"pidfd_open", SYS_pidfd_open},
               {"pidfd_send_signal", SYS_pidfd_send_signal},
               {"process_vm_readv", SYS_process_vm_readv},
               {"process_vm_writev", SYS_process_vm_writev},
               {"futex_waitv", SYS_futex_waitv},
               {"epoll_pwait2", SYS_epoll_pwait2},
               {"userfaultfd", SYS_userfaultfd},
               {"io_uring_setup", SYS_io_uring_setup},
               {"sched_setaffinity", SYS_sched_setaffinity},
               {"sched_setattr", SYS_sched_setattr},
               {"flock", SYS_flock},
               {"set_robust_list", SYS_set_robust_list},
               {"kill", SYS_kill},
               {"madvise", SYS_madvise},
               {"fallocate", SYS_fallocate},
               {"prlimit64", SYS_prlimit64},
               {"waitid", SYS_waitid}};
  for (const int error : errors) {
    for (const auto& one : calls) {
      if (one.number == SYS_prlimit64 && sanitized()) continue;  // AddressSanitizer itself needs it
      const outcome job = job_without({one.number}, error);
      EXPECT_EQ(job.status, 7) << one.name << ": " << job.said;
      EXPECT_EQ(without_loss(without_sanitizer_notes(job.said)), "") << one.name;
    }
    const outcome old_kernel = job_without({SYS_membarrier, SYS_pidfd_open, SYS_futex_waitv, SYS_epoll_pwait2}, error);
    EXPECT_EQ(old_kernel.status, 7) << old_kernel.said;
  }
}

TEST(refused_calls, that_a_job_needs_are_named) {
  const struct {
    const char* name;
    long number;
  } calls[] = {{"memfd_create", SYS_memfd_create},
               {"ftruncate", SYS_ftruncate},
               {"epoll_create1", SYS_epoll_create1},
               {"eventfd2", SYS_eventfd2},
#ifndef HAM_TEST_SANITIZED  // which find out by a pipe whether memory can be read
               {"pipe2", SYS_pipe2},
#endif
               {"socketpair", SYS_socketpair},
               {"setsockopt", SYS_setsockopt},
               {"getrandom", SYS_getrandom},
               {"sendmsg", SYS_sendmsg},
               {"recvmsg", SYS_recvmsg}};
  for (const int error : errors) {
    for (const auto& one : calls) {
      const outcome job = job_without({one.number}, error);
      EXPECT_EQ(job.status, 2) << one.name << ": as of every start that fails";
      EXPECT_NE(job.said.find("allow the system call " + std::string(one.name)), std::string::npos) << job.said;
    }
  }
  const outcome no_seals = job_after([] { return forbid_command(SYS_fcntl, F_ADD_SEALS); });
  EXPECT_EQ(no_seals.status, 2) << no_seals.said;
  EXPECT_NE(no_seals.said.find("allow the system call fcntl"), std::string::npos) << no_seals.said;
#ifndef HAM_TEST_SANITIZED                                      // whose own threads need it
  const outcome no_threads = job_without({SYS_clone3}, EPERM);  // at ENOSYS the C library takes another call
  EXPECT_EQ(no_threads.status, 2);
  EXPECT_NE(no_threads.said.find("cannot start a thread"), std::string::npos) << no_threads.said;
#endif
}

TEST(refused_calls, nor_is_there_a_job_without_proc) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers need /proc themselves";
#endif
  const outcome job = job_after(
      [] { return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0; });
  if (job.status == 125) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(job.status, 2);
  EXPECT_NE(job.said.find("mount /proc"), std::string::npos) << job.said;
}

int main(int argc, char** argv) { return ham::test::run(argc, argv); }
