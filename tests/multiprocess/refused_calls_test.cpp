// Kernels, and filters in front of them, that refuse system calls: a job does without, or says at its start which one
// it needs. Nothing hangs.
// timeout: 600
#include "forbidden_calls.hpp"
#include "sanitizer_notes.hpp"

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <ham/offload/group.hpp>

#include "base/unique_fd.hpp"
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

void hang() {
  for (;;) std::this_thread::sleep_for(1s);
}
int until_stopped() {
  const auto stop = this_call::stop_token();
  while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
  return 4;
}
void say_something() { std::puts("something"); }

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("it is not so: ") + what);
}
template <class Call>
bool is_lost(Call call) {
  try {
    call();
    return false;
  } catch (const node_failure&) {
    return true;
  }
}

/// Nodes that die, are killed, hang, are stopped, and are called together. 7: nothing was missing. What is missing ends
/// it with an error, which it prints.
int a_supervised_job() {
  try {
    std::atomic<int> lines{0};
    offload::on_output(2, [&lines](node_t, offload::output_stream, std::string_view text) {
      if (text == "something") ++lines;
    });
    offload::sync(2, fn<&say_something>);
    offload::on_output(2, {});
    expect(lines == 1, "output comes");

    offload::supervise(1, {.max_restarts = 100});
    offload::supervise(2, {.max_restarts = 100, .hang_after = 2s});
    const auto hanging = static_cast<std::int64_t>(offload::get_node_descriptor(2).pid());
    auto hangs = offload::async(2, fn<&hang>);
    expect(is_lost([] { offload::sync(1, fn<&die>); }), "a death is noticed");
    expect(offload::sync(1, fn<&echo>, 3) == 3, "a node that has died is started again");

    auto stopped = offload::async(offload::stoppable(1), fn<&until_stopped>);
    expect(stopped.request_stop(offload::when_stopped::after_answer), "a call is stopped");
    try {
      expect(stopped.get() == 4, "its function is told");
    } catch (const operation_cancelled&) {  // it had not begun
    }
    expect(is_lost([&] { hangs.get(); }), "a node that hangs is ended");
    offload::supervise(2, {.max_restarts = 100});  // the next process may take longer on a busy machine
    expect(offload::sync_all(offload::group({1, 2}), fn<&echo>, 5) == std::vector<int>(2, 5), "groups are called");
    expect(eventually([&] { return !base::process_is_there(hanging); }), "the process that hung has gone");

    auto killed = offload::async(1, fn<&hang>);
    try {
      expect(offload::kill_call(killed), "a call is killed");
    } catch (...) {
      killed.detach();  // its end would be waited for
      throw;
    }
    expect(is_lost([&] { killed.get(); }), "a call that was killed fails");
    expect(offload::sync(1, fn<&echo>, 4) == 4, "a node that was killed is started again");
    return 7;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "the job: %s\n", problem.what());
    return 8;
  }
}

const scenario scenarios[] = {{"a_job", a_job}, {"a_supervised_job", a_supervised_job}};

struct outcome {
  int status = -1;  ///< exit status; -1: killed
  std::string said;
};

/// A job in a process that `prepare` has changed before exec; false: it could not.
class prepared_job {
 public:
  template <class Prepare>
  prepared_job(const char* what, const char* nodes, Prepare prepare) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    int said[2];
    if (::pipe2(said, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("HAM_TEST_SCENARIO", what, 1);
      ::setenv("HAM_NODES", nodes, 1);
      ::setenv("HAM_START_TIMEOUT", "100", 1);  // more than this test waits
      ::dup2(said[1], STDERR_FILENO);
      ::alarm(60);  // stays across exec
      if (!prepare()) ::_exit(125);
      ::execl(program.c_str(), "app", nullptr);
      ::_exit(126);
    }
    ::close(said[1]);
    said_ = base::unique_fd(said[0]);
  }
  outcome end() {
    outcome result;
    std::array<char, 4096> text{};
    for (ssize_t got = 0; (got = ::read(said_.get(), text.data(), text.size())) > 0;) {
      result.said.append(text.data(), static_cast<std::size_t>(got));
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
    return result;
  }

 private:
  pid_t pid_ = -1;
  base::unique_fd said_;
};

/// What `act` has started, and what that has started, ends.
template <class Act>
auto leaving_nothing(Act act) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what is left behind becomes a child of this process
  const std::set<pid_t> own = children();
  auto result = act();
  EXPECT_TRUE(eventually([&] { return children() == own; })) << "processes are left";
  return result;
}

template <class Prepare>
outcome job_after(Prepare prepare, const char* nodes = "shm:1") {
  return leaving_nothing([&] { return prepared_job("a_job", nodes, prepare).end(); });
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

constexpr named_call not_needed[] = {{"membarrier", SYS_membarrier},
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
#ifndef HAM_TEST_SANITIZED  // AddressSanitizer itself needs them, the second one to look for leaks
                                     {"prlimit64", SYS_prlimit64},
                                     {"wait4", SYS_wait4},
#endif
                                     {"waitid", SYS_waitid}};
constexpr named_call needed[] = {{"memfd_create", SYS_memfd_create},
                                 {"ftruncate", SYS_ftruncate},
                                 {"epoll_create1", SYS_epoll_create1},
                                 {"epoll_ctl", SYS_epoll_ctl},
#ifdef SYS_epoll_wait
                                 {"epoll_wait", SYS_epoll_wait},
#else
                                 {"epoll_pwait", SYS_epoll_pwait},
#endif
#ifdef SYS_poll
                                 {"poll", SYS_poll},
#else
                                 {"ppoll", SYS_ppoll},
#endif
                                 {"eventfd2", SYS_eventfd2},
#ifdef SYS_vfork
                                 {"vfork", SYS_vfork},
#endif
#ifndef HAM_TEST_SANITIZED  // which find out by a pipe whether memory can be read
                                 {"pipe2", SYS_pipe2},
#endif
                                 {"socketpair", SYS_socketpair},
                                 {"setsockopt", SYS_setsockopt},
                                 {"getsockopt", SYS_getsockopt},
                                 {"getrandom", SYS_getrandom},
                                 {"sendmsg", SYS_sendmsg},
                                 {"recvmsg", SYS_recvmsg}};

/// Where a node polls a medium that wakes nobody.
constexpr named_call needed_to_poll[] = {{"timerfd_create", SYS_timerfd_create},
                                         {"timerfd_settime", SYS_timerfd_settime}};

constexpr int errors[] = {EPERM, ENOSYS};
constexpr const char* no_filters = "no filters of system calls here";

}  // namespace

TEST(refused_calls, that_a_job_does_without) {
  if (!can_forbid()) GTEST_SKIP() << no_filters;
  for (const int error : errors) {
    for (const named_call& one : not_needed) {
      const outcome job = job_without({one.number}, error);
      EXPECT_EQ(job.status, 7) << one.name << ": " << job.said;
      EXPECT_EQ(without_loss(without_sanitizer_notes(job.said)), "") << one.name;
    }
    const outcome old_kernel = job_without({SYS_membarrier, SYS_pidfd_open, SYS_futex_waitv, SYS_epoll_pwait2}, error);
    EXPECT_EQ(old_kernel.status, 7) << old_kernel.said;
  }
}

void expect_names(const outcome& job, const named_call& one) {
  EXPECT_EQ(job.status, 2) << one.name << ": as of every start that fails";
  EXPECT_NE(job.said.find("allow the system call " + std::string(one.name)), std::string::npos) << job.said;
}

TEST(refused_calls, that_a_job_needs_are_named) {
  if (!can_forbid()) GTEST_SKIP() << no_filters;
  for (const int error : errors) {
    for (const named_call& one : needed) {
      expect_names(job_without({one.number}, error), one);
    }
    for (const named_call& one : needed_to_poll)
      expect_names(job_after([&] { return forbid(one.number, error); }, "emulated"), one);
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

/// What the kernel refuses at a time.
struct refused {
  std::string names;
  std::vector<long> numbers;
};

/// Jobs that mostly wait: some at a time.
std::vector<outcome> supervised_jobs_without(const std::vector<refused>& each, int error) {
  constexpr std::size_t at_a_time = 4;
  return leaving_nothing([&] {
    std::vector<outcome> all;
    std::deque<prepared_job> jobs;
    for (const refused& one : each) {
      jobs.emplace_back("a_supervised_job", "shm:2", [&] {
        return std::ranges::all_of(one.numbers, [&](long call) { return forbid(call, error); });
      });
      if (jobs.size() < at_a_time) continue;
      all.push_back(jobs.front().end());
      jobs.pop_front();
    }
    for (prepared_job& one : jobs) all.push_back(one.end());
    return all;
  });
}

TEST(refused_calls, that_a_supervised_job_does_without) {
  if (!can_forbid()) GTEST_SKIP() << no_filters;
  std::vector<refused> calls{{"waitid, pidfd_open", {SYS_waitid, SYS_pidfd_open}},
#ifndef HAM_TEST_SANITIZED
                             {"wait4, pidfd_open", {SYS_wait4, SYS_pidfd_open}},
#endif
                             {"kill, waitid", {SYS_kill, SYS_waitid}}};
  for (const named_call& one : not_needed) calls.push_back({one.name, {one.number}});
  for (const int error : errors) {
    const std::vector<outcome> jobs = supervised_jobs_without(calls, error);
    for (std::size_t i = 0; i < calls.size(); ++i)
      EXPECT_EQ(jobs[i].status, 7) << calls[i].names << ": " << jobs[i].said;
  }
}

TEST(refused_calls, that_a_supervised_job_needs_are_named) {
  if (!can_forbid()) GTEST_SKIP() << no_filters;
  std::vector<refused> calls;
  for (const named_call& one : needed) calls.push_back({one.name, {one.number}});
  for (const int error : errors) {
    const std::vector<outcome> jobs = supervised_jobs_without(calls, error);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(jobs[i].status, 2) << calls[i].names << ": " << jobs[i].said;
      EXPECT_NE(jobs[i].said.find("allow the system call " + calls[i].names), std::string::npos) << jobs[i].said;
    }
  }
}

/// A node that hangs is replaced all the same, and its process ends by itself; kill_call says what is missing.
TEST(refused_calls, without_which_no_process_can_be_killed_are_named) {
  if (!can_forbid()) GTEST_SKIP() << no_filters;
  const std::vector<refused> calls{{"kill, pidfd_send_signal", {SYS_kill, SYS_pidfd_send_signal}},
                                   {"kill, pidfd_open", {SYS_kill, SYS_pidfd_open}},
                                   {"kill, waitid, pidfd_open", {SYS_kill, SYS_waitid, SYS_pidfd_open}}};
  for (const int error : errors) {
    const std::vector<outcome> jobs = supervised_jobs_without(calls, error);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(jobs[i].status, 8) << calls[i].names << ": " << jobs[i].said;
      EXPECT_NE(jobs[i].said.find("cannot be killed"), std::string::npos) << calls[i].names << ": " << jobs[i].said;
      EXPECT_NE(jobs[i].said.find("allow the system call kill"), std::string::npos) << jobs[i].said;
    }
  }
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
