// The word that tells of the death of a process, however it ends.
#include "base/life_word.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <ctime>
#include <set>
#include <thread>

#include "base/memory_file.hpp"
#include "emulation.hpp"
#include "some_attempt.hpp"

namespace ham::inline v1::base {
namespace {

using namespace std::chrono_literals;

/// Words shared with children.
class life : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
#endif
    if (test::emulated()) GTEST_SKIP() << "the emulator has no robust futexes";
  }

 protected:
  life_word& word(std::size_t index) { return reinterpret_cast<life_word*>(memory_.data())[index * 16]; }

  /// A child that holds word `index` and then does `what`. To be made while this process has one thread: a child that
  /// is forked while another thread allocates inherits the allocator's lock, held for ever (AddressSanitizer's
  /// allocator does not give it back in the child as glibc's does).
  template <class What>
  pid_t child(std::size_t index, What what) {
    const pid_t pid = forked([&] {
      {
        life_watch mine(word(index), [](std::uint64_t) {});
        what();
      }
      ::_exit(0);
    });
    wait_until_held(index);
    return pid;
  }
  /// A child that does `what`, does not return, and dies with this process.
  template <class What>
  static pid_t forked(What what) {
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    what();
    ::_exit(0);
  }
  void wait_until_held(std::size_t index) {
    for (int i = 0; i < 100000 && word(index).load() == 0; ++i) std::this_thread::sleep_for(100us);
    ASSERT_NE(word(index).load(), 0U) << "word " << index << " is not held";
  }

  bool eventually(std::size_t count) {
    for (int i = 0; i < 100000; ++i) {
      {
        std::lock_guard guard(mutex_);
        if (dead_.size() >= count) return true;
      }
      std::this_thread::sleep_for(100us);
    }
    return false;
  }
  bool eventually_dead(std::uint64_t cookie) {
    for (int i = 0; i < 50000; ++i) {
      {
        std::lock_guard guard(mutex_);
        if (dead_.contains(cookie)) return true;
      }
      std::this_thread::sleep_for(100us);
    }
    return false;
  }
  life_watch::death_handler note() {
    return [this](std::uint64_t cookie) {
      std::lock_guard guard(mutex_);
      dead_.insert(cookie);
    };
  }

  static void hold_still() {
    for (;;) ::pause();
  }

  unique_fd file_ = make_memory_file("test", 1 << 20);
  mapping memory_{file_.get(), 1 << 20};
  std::mutex mutex_;
  std::multiset<std::uint64_t> dead_;
};

TEST_F(life, own_word_is_held_and_given_back) {
  {
    const life_watch mine(word(0), note());
    EXPECT_NE(word(0).load(), 0U);
  }
  EXPECT_EQ(word(0).load(), 0U);
}

/// Other processes can write to it.
TEST_F(life, who_holds_its_word_does_not_wait_for_what_others_write_there) {
  std::atomic<bool> over{false};
  std::thread hostile([&] {
    while (!over.load()) word(0).store(0);
  });
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) const life_watch mine(word(0), note());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
  over = true;
  hostile.join();
}

TEST_F(life, a_word_that_changes_all_the_time_costs_no_core) {
  const auto cpu_time = [] {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  };
  const pid_t hostile = forked([&] {
    for (;;) {
      for (std::uint32_t value = 1; value < 1000; ++value) word(1).store(value);
      ::syscall(SYS_futex, &word(1), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
  });
  life_watch mine(word(0), note());
  mine.watch(word(1), 1);
  std::this_thread::sleep_for(50ms);
  std::chrono::nanoseconds used{};
  std::chrono::nanoseconds elapsed{};  // on a busy machine a second of sleep may be several
  const auto is_quiet = [&] {
    const auto began = std::chrono::steady_clock::now();
    const auto before = cpu_time();
    std::this_thread::sleep_for(1s);
    used = cpu_time() - before;
    elapsed = std::chrono::steady_clock::now() - began;
    return used < elapsed * 15 / 100;
  };
  EXPECT_TRUE(ham::test::in_some_attempt(is_quiet)) << used.count() << " ns of " << elapsed.count();
  ::kill(hostile, SIGKILL);
  ::waitpid(hostile, nullptr, 0);
}

/// The kernel wakes one watcher, which may have lost interest by the time that it runs.
TEST_F(life, all_watchers_are_told_even_if_one_gives_up_at_that_moment) {
  std::vector<pid_t> pids;
  for (std::size_t i = 2; i <= 21; ++i) pids.push_back(child(i, hold_still));
  life_watch first(word(0), note());
  life_watch second(word(1), note());
  for (std::size_t i = 2; i <= 21; ++i) {
    const pid_t pid = pids[i - 2];
    first.watch(word(i), 0);
    std::this_thread::sleep_for(5ms);  // it waits, before the other does
    second.watch(word(i), i);
    std::this_thread::sleep_for(5ms);
    ::kill(pid, SIGKILL);
    while (!holder_died(word(i))) {
    }
    first.unwatch(0);
    ASSERT_TRUE(eventually_dead(i)) << "round " << i;
    ::waitpid(pid, nullptr, 0);
  }
}

TEST_F(life, kill_9_is_told_once) {
  std::vector<pid_t> pids;
  for (std::size_t i = 1; i <= 10; ++i) pids.push_back(child(i, hold_still));
  life_watch mine(word(0), note());
  for (std::size_t i = 1; i <= 10; ++i) {
    const pid_t pid = pids[i - 1];
    mine.watch(word(i), i);
    std::this_thread::sleep_for(i % 2 == 0 ? 2ms : 0ms);
    ::kill(pid, SIGKILL);
    ASSERT_TRUE(eventually(i)) << "nobody noticed";
    ::waitpid(pid, nullptr, 0);
  }
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(dead_, (std::multiset<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST_F(life, death_before_the_watch_is_told) {
  const pid_t pid = child(1, hold_still);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  life_watch mine(word(0), note());
  mine.watch(word(1), 7);
  EXPECT_TRUE(eventually(1));
}

TEST_F(life, sudden_exit_is_a_death) {
  const pid_t pid = child(1, [] {
    std::this_thread::sleep_for(50ms);
    ::_exit(3);
  });
  life_watch mine(word(0), note());
  mine.watch(word(1), 1);
  EXPECT_TRUE(eventually(1));
  ::waitpid(pid, nullptr, 0);
}

TEST_F(life, an_orderly_end_is_none) {
  const pid_t pid = child(1, [] { std::this_thread::sleep_for(30ms); });
  life_watch mine(word(0), note());
  mine.watch(word(1), 1);
  ::waitpid(pid, nullptr, 0);
  std::this_thread::sleep_for(50ms);
  std::lock_guard guard(mutex_);
  EXPECT_TRUE(dead_.empty());
}

TEST_F(life, a_word_may_be_watched_before_it_is_held) {
  const pid_t pid = forked([&] {
    while (word(2).load() == 0) std::this_thread::sleep_for(100us);
    life_watch theirs(word(1), [](std::uint64_t) {});
    hold_still();
  });
  life_watch mine(word(0), note());
  mine.watch(word(1), 1);
  std::this_thread::sleep_for(5ms);
  word(2).store(1);
  wait_until_held(1);
  std::this_thread::sleep_for(5ms);
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually(1));
  ::waitpid(pid, nullptr, 0);
}

TEST_F(life, several_watchers_of_one_word) {
  const pid_t pid = child(1, hold_still);
  const pid_t watcher = forked([&] {
    std::atomic<bool> told{false};
    life_watch theirs(word(2), [&](std::uint64_t) { told = true; });
    theirs.watch(word(1), 1);
    for (int i = 0; i < 100000 && !told; ++i) std::this_thread::sleep_for(100us);
    ::_exit(told ? 0 : 1);
  });
  wait_until_held(2);
  life_watch mine(word(0), note());
  mine.watch(word(1), 1);
  std::this_thread::sleep_for(10ms);
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually(1));
  int status = 1;
  ::waitpid(watcher, &status, 0);
  EXPECT_EQ(status, 0) << "the other watcher was not told";
  ::waitpid(pid, nullptr, 0);
}

TEST_F(life, more_words_than_one_thread_can_watch) {
  std::vector<pid_t> pids;
  for (std::size_t i = 1; i <= 160; ++i) pids.push_back(child(i, hold_still));
  life_watch mine(word(0), note());
  for (std::size_t i = 1; i <= 160; ++i) mine.watch(word(i), i);
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually(160));
  for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(dead_.size(), 160U);
}

}  // namespace
}  // namespace ham::base
