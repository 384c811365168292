// The small parts of src/base: biased lock, memory files, control sockets, processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/biased_lock.hpp"
#include "base/clock.hpp"
#include "base/closed_descriptor.hpp"
#include "base/control_socket.hpp"
#include "base/memory_file.hpp"
#include "base/process.hpp"
#include "forbidden_calls.hpp"
#include "ham/error.hpp"

namespace ham::base {
namespace {

using namespace std::chrono_literals;

// ---- biased_lock

TEST(biased_lock, of_one_thread) {
  biased_lock lock;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(lock.try_lock());
    ASSERT_FALSE(lock.try_lock()) << "it is not recursive";
    lock.unlock();
  }
}

TEST(biased_lock, excludes_the_others_from_the_first_moment_on) {
  for (int round = 0; round < 200; ++round) {
    biased_lock lock;
    long counter = 0;
    int inside = 0;
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int k = 0; k < 500; ++k) {
          if (i % 2 == 0 || !lock.try_lock()) lock.lock();
          if (++inside != 1) wrong = true;
          counter = counter + 1;
          --inside;
          lock.unlock();
        }
      });
    }
    for (auto& one : threads) one.join();
    ASSERT_FALSE(wrong.load());
    ASSERT_EQ(counter, 2000);
  }
}

TEST(biased_lock, the_owner_loses_its_bias_while_it_holds) {
  for (int round = 0; round < 200; ++round) {
    biased_lock lock;
    lock.lock();
    lock.unlock();
    lock.lock();  // by the bias
    std::atomic<bool> got{false};
    std::thread other([&] {
      lock.lock();
      got = true;
      lock.unlock();
    });
    if (round % 2 == 0) std::this_thread::sleep_for(100us);
    ASSERT_FALSE(got.load());
    lock.unlock();
    other.join();
    ASSERT_TRUE(lock.try_lock());
    lock.unlock();
  }
}

// ---- memory_file

TEST(memory_file, is_shared_by_its_mappings_and_has_no_name) {
  const unique_fd file = make_memory_file("test", 8192);
  EXPECT_EQ(file_size(file.get()), 8192U);
  const mapping one(file.get(), 8192);
  const mapping two(file.get(), 8192);
  ASSERT_NE(one.data(), two.data());
  std::memcpy(one.data() + 5000, "shared", 7);
  EXPECT_STREQ(reinterpret_cast<const char*>(two.data() + 5000), "shared");
  struct stat about {};
  ASSERT_EQ(::fstat(file.get(), &about), 0);
  EXPECT_EQ(about.st_nlink, 0U);
  EXPECT_NE(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(memory_file, can_be_neither_shrunk_nor_sealed_further) {
  const unique_fd file = make_memory_file("test", 8192);
  EXPECT_EQ(::fcntl(file.get(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_SEAL);
  EXPECT_EQ(::ftruncate(file.get(), 4096), -1);
  for (const int seal : {F_SEAL_WRITE, F_SEAL_GROW}) {
    EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seal), -1) << "a peer would forbid the others to use it";
    EXPECT_EQ(errno, EPERM);
  }
  EXPECT_EQ(::ftruncate(file.get(), 16384), 0) << "it grows";
}

/// What make_memory_file says in a process where the kernel refuses something.
template <class Forbid>
std::string refusal_of_memory(Forbid forbid) {
  int said[2];
  if (::pipe(said) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::string text = "nothing";
    try {
      if (!forbid()) throw error("no filters here");
      static_cast<void>(make_memory_file("ham-test", 4096));
    } catch (const error& problem) {
      text = problem.what();
    }
    static_cast<void>(!::write(said[1], text.data(), text.size()));
    ::_exit(0);
  }
  ::close(said[1]);
  std::array<char, 1000> text{};
  const ssize_t got = ::read(said[0], text.data(), text.size());
  ::close(said[0]);
  ::waitpid(pid, nullptr, 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

TEST(memory_file, that_the_kernel_refuses_is_an_error_that_says_why) {
  EXPECT_EQ(refusal_of_memory([] { return test::forbid(SYS_memfd_create); }),
            "cannot create 4096 bytes of shared memory (Operation not permitted); allow the system call memfd_create, "
            "which a filter forbids (seccomp, as of a container or a service)");
  EXPECT_EQ(refusal_of_memory([] { return test::forbid(SYS_ftruncate, EFBIG); }),
            "cannot create 4096 bytes of shared memory (more than the limit of file sizes, which counts here, too); "
            "raise the limit ulimit -f");
  EXPECT_EQ(refusal_of_memory([] { return test::forbid_command(SYS_fcntl, F_ADD_SEALS); }).substr(0, 16),
            "cannot seal 4096")
      << "memory that a peer can take away";
}

TEST(memory_file, grows_under_a_longer_mapping) {
  const unique_fd file = make_memory_file("test", 4096);
  const mapping window(file.get(), 1 << 20);
  ASSERT_EQ(::ftruncate(file.get(), 1 << 20), 0);
  window.data()[(1 << 20) - 1] = std::byte{1};
  EXPECT_EQ(file_size(file.get()), std::size_t{1} << 20);
}

TEST(memory_file, mappings_move) {
  const unique_fd file = make_memory_file("test", 4096);
  mapping one(file.get(), 4096);
  std::byte* const at = one.data();
  mapping two(std::move(one));
  EXPECT_EQ(two.data(), at);
  EXPECT_FALSE(one);  // NOLINT(bugprone-use-after-move)
  two = mapping();
  EXPECT_FALSE(two);
  EXPECT_EQ(file_size(-1), 0U);
  EXPECT_THROW(mapping(-1, 4096), config_error);
}

// ---- control_socket

std::span<const std::byte> bytes_of(const char* text) {
  return {reinterpret_cast<const std::byte*>(text), std::strlen(text)};
}

TEST(control_socket, messages_and_descriptors) {
  auto [one, other] = make_control_pair();
  const unique_fd file = make_memory_file("test", 4096);
  bool closed = true;
  EXPECT_FALSE(receive_control(other.get(), false, closed));
  EXPECT_FALSE(closed);
  const int fds[] = {file.get(), file.get()};
  ASSERT_TRUE(send_control(one.get(), bytes_of("first"), fds));
  ASSERT_TRUE(send_control(one.get(), bytes_of("second message"), {}));
  const auto first = receive_control(other.get(), true, closed);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes.size(), 5U);
  ASSERT_EQ(first->fds.size(), 2U);
  EXPECT_NE(first->fds[0].get(), file.get());
  EXPECT_NE(::fcntl(first->fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(file_size(first->fds[1].get()), 4096U);
  const auto second = receive_control(other.get(), true, closed);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->bytes.size(), 14U);
  EXPECT_TRUE(second->fds.empty());
}

TEST(control_socket, asks_who_sends_also_without_standard_descriptors) {
  int asked[2] = {0, 0};
  {
    const test::closed_descriptor in(STDIN_FILENO);
    const auto [one, other] = make_control_pair();
    socklen_t size = sizeof(int);
    ::getsockopt(one.get(), SOL_SOCKET, SO_PASSCRED, &asked[0], &size);
    ::getsockopt(other.get(), SOL_SOCKET, SO_PASSCRED, &asked[1], &size);
  }
  EXPECT_EQ(asked[0], 1);
  EXPECT_EQ(asked[1], 1);
}

TEST(control_socket, the_end) {
  auto [one, other] = make_control_pair();
  ASSERT_TRUE(send_control(one.get(), bytes_of("last"), {}));
  one.reset();
  bool closed = false;
  EXPECT_TRUE(receive_control(other.get(), true, closed)) << "what was sent before still arrives";
  EXPECT_FALSE(receive_control(other.get(), true, closed));
  EXPECT_TRUE(closed);
  EXPECT_FALSE(send_control(other.get(), bytes_of("nobody"), {})) << "no SIGPIPE";
}

// ---- process

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

TEST(clock, does_not_run_backwards) {
  std::int64_t before = now_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

}  // namespace
}  // namespace ham::base
