// Threads of a node that wait. Nothing here depends on how long something takes: who is not woken hangs.
#include "core/waiter.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "core/idle_node.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

using test::idle_node;

TEST(waiter, what_is_done_already_is_not_waited_for) {
  idle_node node;
  EXPECT_TRUE(node.wait([] { return true; }));
  EXPECT_EQ(node.polls, 0);
}

TEST(waiter, polls_until_it_is_done) {
  idle_node node;
  int left = 5;
  node.on_receive = [&] { return --left >= 0; };
  EXPECT_TRUE(node.wait([&] { return left == 0; }));
  EXPECT_EQ(node.polls, 5);
  EXPECT_EQ(node.clock_checks, 0) << "who is busy does not look at the clock";
}

TEST(waiter, knows_when_it_polled_for_nothing_until_it_finds_something_sleeps_or_ends) {
  idle_node node;
  std::vector<bool> known;
  node.on_receive = [&] {
    known.push_back(this_thread.polled_at != 0);
    return known.size() == 3;
  };
  EXPECT_TRUE(node.wait([&] { return known.size() == 5; }));
  const bool counts = base::own_tick_source != base::tick_source::clock;
  EXPECT_EQ(known, (std::vector<bool>{false, counts, counts, counts, counts})) << "what it finds is not the waiter's";
  EXPECT_EQ(this_thread.polled_at, 0U);
  const std::uint64_t sleeps = node.waits.sleeps();
  std::uint64_t slept = sleeps;
  node.on_receive = [&] {
    if (node.waits.sleeps() != std::exchange(slept, node.waits.sleeps())) {
      EXPECT_EQ(this_thread.polled_at, 0U);
    }
    return false;
  };
  for (std::int64_t ns = 3'000'000; node.waits.sleeps() == sleeps && ns < 20'000'000'000; ns *= 2)  // on a busy machine
    EXPECT_FALSE(node.wait([] { return false; }, base::now_ns() + ns));
  EXPECT_NE(node.waits.sleeps(), sleeps);
}

TEST(waiter, ends_at_its_deadline) {
  idle_node node;
  EXPECT_FALSE(node.wait([] { return false; }, base::now_ns() - 1));
  const std::int64_t until = base::now_ns() + 3'000'000;
  EXPECT_FALSE(node.wait([] { return false; }, until));
  EXPECT_GE(base::now_ns(), until);
  EXPECT_EQ(node.armed, node.disarmed);
}

TEST(waiter, a_wait_that_is_over_at_its_deadline_says_so) {
  idle_node node;
  bool done = false;
  node.on_receive = [&] {
    done = base::now_ns() > 0;
    return false;
  };
  EXPECT_TRUE(node.wait([&] { return done; }, base::now_ns() - 1));
}

TEST(waiter, sleeps_and_is_woken) {
  idle_node node;
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (node.armed == 0) std::this_thread::yield();
    done = true;
    while (node.disarmed == 0) {  // a sleeper that has not begun yet is woken as well
      node.waits.wake_if_asleep();
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(node.wait([&] { return done.load(); }));
  other.join();
  EXPECT_GE(node.waits.sleeps(), 1U);
}

TEST(waiter, two_threads_that_wait_for_long_do_not_wake_each_other) {
  idle_node node;
  const std::int64_t until = base::now_ns() + 300'000'000;
  std::thread other([&] { EXPECT_FALSE(node.wait([] { return false; }, until)); });
  EXPECT_FALSE(node.wait([] { return false; }, until));
  other.join();
  EXPECT_LT(node.waits.sleeps(), 30U);  // of hundreds
}

TEST(waiter, a_wake_up_before_the_sleep_is_not_lost) {
  idle_node node;
  node.waits.wake();
  std::atomic<int> sleeps_left{1};
  EXPECT_TRUE(node.wait([&] { return node.disarmed == sleeps_left; }));
}

TEST(waiter, does_not_sleep_while_the_node_has_something) {
  idle_node node;
  node.refuses_sleep = true;
  EXPECT_TRUE(node.wait([&] { return node.finished >= 3; }));
  EXPECT_EQ(node.waits.sleeps(), 0U);
}

TEST(waiter, does_not_sleep_without_a_transport) {
  idle_node node;
  node.is_connected = false;
  EXPECT_TRUE(node.wait([&] { return node.finished >= 3; }));
  EXPECT_EQ(node.armed, 0);
}

TEST(waiter, gets_up_when_the_node_must_look_by_itself) {
  idle_node node;
  node.wakeup_ns = base::now_ns();
  EXPECT_TRUE(node.wait([&] { return node.disarmed >= 2; }));
}

TEST(waiter, who_must_have_the_lock_wakes_the_sleeper) {
  idle_node node;
  std::atomic<bool> done{false};
  std::thread sleeper([&] { node.wait([&] { return done.load(); }); });
  while (node.armed == 0) std::this_thread::yield();
  node.waits.lock();  // hangs if nobody wakes the other
  done = true;
  node.waits.unlock();
  node.waits.wake();
  sleeper.join();
}

TEST(waiter, a_second_thread_parks_and_is_woken_by_who_settles) {
  idle_node node;
  std::atomic<bool> first{false};
  std::atomic<bool> second{false};
  std::thread sleeper([&] { node.wait([&] { return first.load(); }); });
  while (node.armed == 0) std::this_thread::yield();
  std::thread parked([&] { node.wait([&] { return second.load(); }); });
  second = true;
  node.waits.wake_finished();
  parked.join();
  first = true;
  node.waits.wake();
  sleeper.join();
}

TEST(waiter, two_threads_hand_a_turn_back_and_forth_without_losing_a_wake_up) {
  idle_node node;
  std::atomic<int> turn{0};
  constexpr int rounds = 500;
  const auto play = [&](int me) {
    for (int i = 0; i < rounds; ++i) {
      const int mine = 2 * i + me;
      node.wait([&] { return turn.load() == mine; });
      turn.store(mine + 1);
      node.waits.wake_finished();
      node.waits.wake_if_asleep();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn, 2 * rounds);
}

}  // namespace
}  // namespace ham::detail
