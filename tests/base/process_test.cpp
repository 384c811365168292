// Child processes: start, environment, end.
#include "base/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <thread>

#include "base/control_socket.hpp"
#include "base/memory_file.hpp"
#include "forbidden_calls.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

using namespace std::chrono_literals;

process_request shell(const std::string& script) {
  process_request request;
  request.command = {"sh", "-c", script};
  return request;
}

TEST(process, ends_with_a_text) {
  EXPECT_NE(wait_for_end(start_process(shell("exit 0")), 20s).find("0"), std::string::npos);
  EXPECT_NE(wait_for_end(start_process(shell("exit 7")), 20s).find("7"), std::string::npos);
  const std::string killed = wait_for_end(start_process(shell("kill -SEGV $$")), 20s);
  EXPECT_NE(killed.find("signal 11"), std::string::npos) << killed;
}

TEST(process, still_runs_and_is_killed) {
  const process child = start_process(shell("exec sleep 100"));
  EXPECT_EQ(wait_for_end(child, 1ms), "");
  kill_process(child);
  EXPECT_NE(wait_for_end(child, 20s).find("signal 9"), std::string::npos);
  kill_process(child);
  EXPECT_NE(::kill(child.pid, 0), 0) << "it was reaped";
  EXPECT_FALSE(kill_if_own_child(child.pid));
  EXPECT_FALSE(kill_if_own_child(::getppid()));
}

/// In a process for which the kernel refuses some calls: whether `kills` ends a child of it. nullopt: there are no
/// filters of system calls here.
std::optional<bool> ends_without(std::initializer_list<long> calls, void (*kills)(const process&)) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    for (const long call : calls) {
      if (!test::forbid(call)) ::_exit(2);
    }
    end_record end{};
    process_request request = shell("exec sleep 100");
    request.end = &end;
    const process child = start_process(request);
    if (!is_own_child(child.pid) || is_own_child(::getppid())) ::_exit(1);
    kills(child);
    std::string how;
    const auto until = std::chrono::steady_clock::now() + 20s;
    while ((how = wait_for_end(child, 20s)).empty() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(1ms);  // without a descriptor it is asked at once
    ::_exit(how.find("signal 9") != std::string::npos && end.text() == how && !is_own_child(child.pid) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(parent, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return std::nullopt;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(process, is_killed_and_reaped_by_the_calls_that_the_kernel_allows) {
  if (!ends_without({SYS_io_uring_setup}, &kill_process)) GTEST_SKIP() << "no filters of system calls here";
  const auto by_number = [](const process& child) { EXPECT_TRUE(kill_if_own_child(child.pid)); };
  for (const auto kills : {+by_number, +[](const process& child) { kill_process(child); }}) {
    EXPECT_EQ(ends_without({SYS_kill}, kills), true);
    EXPECT_EQ(ends_without({SYS_pidfd_send_signal}, kills), true);
    EXPECT_EQ(ends_without({SYS_pidfd_open}, kills), true);
    EXPECT_EQ(ends_without({SYS_waitid}, kills), true);
    EXPECT_EQ(ends_without({SYS_waitid, SYS_pidfd_open}, kills), true);
    EXPECT_EQ(ends_without({SYS_wait4}, kills), true);
    EXPECT_EQ(ends_without({SYS_wait4, SYS_pidfd_open}, kills), true);
  }
  const auto in_vain = [](const process& child) {
    if (kill_child(child.pid) != EPERM || kill_if_own_child(child.pid)) ::_exit(1);
    kill_process(child);
    if (!wait_for_end(child, 1ms).empty()) ::_exit(1);
    ::_exit(0);
  };
  EXPECT_EQ(ends_without({SYS_kill, SYS_pidfd_send_signal}, in_vain), true);
  EXPECT_EQ(ends_without({SYS_kill, SYS_pidfd_open}, in_vain), true);
}

TEST(process, has_its_end_recorded_before_it_is_reaped) {
  const auto recorded = [](const std::string& script) {
    end_record end{};
    process_request request = shell(script);
    request.end = &end;
    const process child = start_process(request);
    EXPECT_EQ(end.text(), "");
    std::string seen_when_reaped;
    std::thread watcher([&] {
      while (::kill(child.pid, 0) == 0) std::this_thread::yield();
      seen_when_reaped = end.text();
    });
    const std::string how = wait_for_end(child, 20s);
    EXPECT_EQ(end.text(), how);
    watcher.join();
    EXPECT_EQ(seen_when_reaped, how);
    return how;
  };
  for (int i = 0; i < 20 && !HasFailure(); ++i) EXPECT_EQ(recorded("exit 7"), "exited with status 7");
  EXPECT_EQ(recorded("exit 0"), "exited with status 0");
  EXPECT_EQ(recorded("kill -KILL $$"), "was killed by signal 9 (Killed)");
  EXPECT_EQ(recorded("kill -SEGV $$"), "was killed by signal 11 (Segmentation fault)");
}

TEST(process, gets_environment_cores_and_one_descriptor) {
  auto [mine, theirs] = make_control_pair();
  const unique_fd private_file = make_memory_file("test", 1);
  ::setenv("HAM_TEST_REPLACED", "old", 1);
  process_request request = shell("test \"$HAM_TEST_ADDED$HAM_TEST_REPLACED\" = addednew && test -e /proc/self/fd/" +
                                  std::to_string(theirs.get()) + " && test ! -e /proc/self/fd/" +
                                  std::to_string(private_file.get()) + " && test \"$(nproc)\" = 1");
  request.extra_environment = {"HAM_TEST_ADDED=added", "HAM_TEST_REPLACED=new"};
  request.inherited_fd = theirs.get();
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ASSERT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
  int core = 0;
  while (!CPU_ISSET(core, &cpus)) ++core;
  request.cpus = {core};
  EXPECT_NE(wait_for_end(start_process(request), 20s).find(" 0"), std::string::npos);
  EXPECT_NE(::fcntl(theirs.get(), F_GETFD) & FD_CLOEXEC, 0) << "here it is closed on exec again";
  ::unsetenv("HAM_TEST_REPLACED");
}

TEST(process, a_thread_may_use_one_core_or_several) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(only_core() < 0, CPU_COUNT(&before) > 1);
  const int here = ::sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(here), &one);
  std::thread([&] {  // this one stays as it is
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(only_core(), here);
  })
      .join();
}

TEST(process, may_have_other_outputs_than_this_one) {
  const unique_fd out = make_memory_file("test", 0);
  const unique_fd err = make_memory_file("test", 0);
  process_request request = shell("echo to out; echo to err >&2; test ! -e /proc/self/fd/" + std::to_string(out.get()));
  request.output = {out.get(), err.get()};
  EXPECT_EQ(wait_for_end(start_process(request), 20s), "exited with status 0");
  char text[32];
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(::pread(out.get(), text, sizeof text, 0))), "to out\n");
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(::pread(err.get(), text, sizeof text, 0))), "to err\n");
}

TEST(process, environment_with_what_replaces_and_what_is_new) {
  ::setenv("HAM_TEST_REPLACED", "old", 1);
  ::setenv("HAM_TEST_REPLACED_NOT", "kept", 1);
  const std::vector<std::string> all = environment_with({"HAM_TEST_ADDED=added", "HAM_TEST_REPLACED=new"});
  for (const char* const one : {"HAM_TEST_ADDED=added", "HAM_TEST_REPLACED=new", "HAM_TEST_REPLACED_NOT=kept"}) {
    EXPECT_EQ(std::count(all.begin(), all.end(), one), 1) << one;
  }
  EXPECT_EQ(std::count(all.begin(), all.end(), "HAM_TEST_REPLACED=old"), 0);
  const std::vector<char*> there = pointers(all);
  ASSERT_EQ(there.size(), all.size() + 1);
  EXPECT_EQ(there.front(), all.front());
  EXPECT_EQ(there.back(), nullptr);
  ::unsetenv("HAM_TEST_REPLACED");
  ::unsetenv("HAM_TEST_REPLACED_NOT");
}

TEST(process, that_does_not_exist) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer makes a fork of vfork: the child cannot say why it failed";
#endif
  process_request request;
  request.command = {"/no/such/program"};
  try {
    (void)start_process(request);
    FAIL();
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("/no/such/program"), std::string::npos) << problem.what();
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

TEST(process, dies_with_the_thread_that_started_it) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer makes a fork of vfork: the thread may end before the child is tied to it";
#endif
  process child;
  std::thread([&] { child = start_process(shell("exec sleep 100")); }).join();
  EXPECT_NE(wait_for_end(child, 20s).find("signal 9"), std::string::npos);
}

}  // namespace
}  // namespace ham::base
