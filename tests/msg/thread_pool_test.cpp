// The thread pool: everything submitted runs once, shutdown drains, threads come back.
#include "ham/msg/thread_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace {

using ham::msg::thread_pool;

TEST(ThreadPool, RunsEverythingOnce) {
  thread_pool pool(3);
  std::atomic<int> sum{0};
  for (int i = 1; i <= 1000; ++i) pool.submit([&sum, i] { sum += i; });
  pool.shutdown();
  EXPECT_EQ(sum, 500500);
}

TEST(ThreadPool, OneThreadKeepsTheOrder) {
  thread_pool pool(1);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) pool.submit([&order, i] { order.push_back(i); });
  pool.shutdown();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(ThreadPool, JobsMayOwnWhatOnlyMovesAndSubmitMore) {
  thread_pool pool(2);
  std::atomic<int> done{0};
  auto value = std::make_unique<int>(5);
  pool.submit([&pool, &done, value = std::move(value)]() mutable {
    pool.submit([&done, inner = std::move(value)] { done += *inner; });
    ++done;
  });
  pool.shutdown();
  EXPECT_EQ(done, 6) << "shutdown waits for jobs of jobs";
}

TEST(ThreadPool, StartsAgainAfterShutdownAndResize) {
  thread_pool pool(1);
  std::atomic<int> done{0};
  for (std::size_t round = 1; round <= 4; ++round) {
    pool.submit([&done] { ++done; });
    pool.resize(round);
    EXPECT_EQ(pool.size(), round);
    pool.submit([&done] { ++done; });
    pool.shutdown();
    EXPECT_EQ(done, static_cast<int>(2 * round));
  }
  pool.resize(0);
  EXPECT_EQ(pool.size(), 1u);
}

TEST(ThreadPool, ShutdownOfAnUnusedPoolDoesNothing) {
  thread_pool pool(4);
  pool.shutdown();
  pool.shutdown();
}

TEST(ThreadPool, ShutdownFromAJobDoesNotWaitForItself) {
  thread_pool pool(2);
  std::atomic<bool> returned{false};
  pool.submit([&] {
    pool.shutdown();
    returned = true;
  });
  pool.shutdown();
  EXPECT_TRUE(returned);
}

TEST(ThreadPool, WaitersCanHelp) {
  thread_pool pool(1);
  std::atomic<bool> inner{false};
  std::atomic<bool> outer{false};
  pool.submit([&] {
    pool.submit([&] { inner = true; });
    while (!inner) pool.run_one();  // the only thread of the pool would wait for itself otherwise
    outer = true;
  });
  pool.shutdown();
  EXPECT_TRUE(outer);
  EXPECT_FALSE(pool.run_one());
}

/// Each job waits for the next one, which is queued behind it.
void submit_chain(thread_pool& pool, int length, std::atomic<int>& done) {
  if (length == 0) return;
  pool.submit([&pool, length, &done] {
    const int before = done;
    submit_chain(pool, length - 1, done);
    thread_pool::waiting scope;
    while (length > 1 && done == before) {
      if (scope.starved()) scope.help();
      std::this_thread::yield();
    }
    ++done;
  });
}

TEST(ThreadPool, OthersTakeThePlaceOfJobsThatWait) {
  thread_pool pool(2);
  std::atomic<int> done{0};
  submit_chain(pool, 40, done);
  pool.shutdown();
  EXPECT_EQ(done, 40);
  EXPECT_EQ(pool.size(), 2U);
}

TEST(ThreadPool, WaitingJobsHelpWhenThereCanBeNoMoreThreads) {
  thread_pool pool(1);
  std::atomic<int> done{0};
  const int length = static_cast<int>(thread_pool::max_spares) + 50;
  submit_chain(pool, length, done);
  pool.shutdown();
  EXPECT_EQ(done, length);
}

/// The calling thread and those it starts share one core while this lives: they interrupt each other anywhere.
class one_core {
 public:
  one_core() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  one_core(const one_core&) = delete;
  one_core& operator=(const one_core&) = delete;
  ~one_core() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

TEST(ThreadPool, ManyThreadsSubmitWhileItIsShutDown) {
  const one_core scope;
  for (int round = 0; round < 100; ++round) {
    thread_pool pool(2);
    std::atomic<int> done{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 300; ++i) pool.submit([&done] { ++done; });
      });
    }
    for (int i = 0; i < 20; ++i) pool.shutdown();
    for (auto& thread : threads) thread.join();
    pool.shutdown();
    ASSERT_EQ(done, 900) << "round " << round;
  }
}

TEST(ThreadPool, LeavesSignalsToTheApplicationsThreads) {
  thread_pool pool(1);
  std::atomic<bool> takes_none{false};
  std::atomic<bool> takes_its_own_faults{false};
  pool.submit([&] {
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    takes_none = true;
    for (const int one : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF, SIGRTMIN}) {
      takes_none = takes_none && ::sigismember(&blocked, one) == 1;
    }
    takes_its_own_faults = ::sigismember(&blocked, SIGSEGV) == 0 && ::sigismember(&blocked, SIGFPE) == 0;
  });
  pool.shutdown();
  EXPECT_TRUE(takes_none);
  EXPECT_TRUE(takes_its_own_faults);
  sigset_t mine;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_EQ(::sigismember(&mine, SIGTERM), 0) << "the thread that submits keeps its mask";
}

}  // namespace
