// Threads that wait for another one's progress. Nothing here has a time limit: who is not woken hangs.
#include "core/parking.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace ham::inline v1::detail {
namespace {

TEST(parking, what_was_done_before_the_thread_had_announced_itself_is_seen) {
  parking here;
  EXPECT_FALSE(here.occupied()) << "so who settles something tells nobody";
  int asked = 0;
  here.wait(
      [&] {
        EXPECT_TRUE(here.occupied()) << "asked before it is certain that others see the announcement";
        return ++asked > 0;
      },
      base::never_ns);
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(here.occupied());
}

TEST(parking, who_is_finished_is_woken_and_nobody_else) {
  parking here;
  std::atomic<bool> first{false};
  std::atomic<bool> second{false};
  std::atomic<int> asleep{0};
  std::atomic<int> awake{0};
  const auto wait_for = [&](std::atomic<bool>& what) {
    return std::thread([&] {
      int asked = 0;
      here.wait(
          [&] {
            if (++asked == 1) ++asleep;
            return what.load();
          },
          base::never_ns);
      EXPECT_TRUE(what.load());
      ++awake;
    });
  };
  std::thread one = wait_for(first);
  std::thread other = wait_for(second);
  while (asleep != 2) std::this_thread::yield();
  here.wake_finished();
  first = true;
  EXPECT_TRUE(here.occupied());
  here.wake_finished();
  one.join();
  EXPECT_EQ(awake, 1);
  EXPECT_TRUE(here.occupied());
  second = true;
  here.wake_finished();
  other.join();
}

TEST(parking, all_are_woken_when_progress_ends) {
  parking here;
  std::atomic<int> asleep{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      here.wait(
          [&] {
            ++asleep;
            return false;
          },
          base::never_ns);
    });
  }
  while (asleep != 4) std::this_thread::yield();
  here.wake_all();
  for (std::thread& one : threads) one.join();
}

TEST(parking, no_wake_up_is_lost_between_two_threads) {
  parking here;
  std::atomic<int> turn{0};
  constexpr int rounds = 2000;
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      while (turn.load(std::memory_order_relaxed) != 2 * i + 1) std::this_thread::yield();
      turn.store(2 * i + 2, std::memory_order_relaxed);
      if (here.occupied()) here.wake_finished();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    turn.store(2 * i + 1, std::memory_order_relaxed);
    const std::function<bool()> answered = [&] { return turn.load(std::memory_order_relaxed) == 2 * i + 2; };
    while (!answered()) here.wait(answered, base::never_ns);
  }
  other.join();
}

TEST(parking, ends_with_its_time) {
  parking here;
  here.wait([] { return false; }, base::now_ns() + 1'000'000);
  here.wait([] { return false; }, base::now_ns() - 1'000'000);
  EXPECT_FALSE(here.occupied());
}

}  // namespace
}  // namespace ham::detail
