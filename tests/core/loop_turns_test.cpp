// A node that sleeps for an event loop: armed, without a thread that holds its lock.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>

#include <atomic>
#include <thread>

#include "base/event_fds.hpp"
#include "core/idle_node.hpp"

namespace ham::inline v1::detail {
namespace {

using test::idle_node;

bool loop_readable(int fd, int timeout_ms = 0) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, timeout_ms) == 1;
}

class loop_turns : public testing::Test {
 protected:
  void turn() {
    node.waits.begin_loop_turn();
    node.waits.end_loop_turn();
  }
  /// As a thread that polls.
  void poll() {
    ASSERT_TRUE(node.waits.try_lock());
    node.waits.rouse();
    node.waits.unlock();
  }
  idle_node node;
  int fd = node.waits.loop_fd();
};

TEST_F(loop_turns, a_turn_arms_the_node_and_leaves_the_lock_free) {
  EXPECT_TRUE(loop_readable(fd));
  turn();
  EXPECT_EQ(node.armed, 1);
  EXPECT_EQ(node.disarmed, 0);
  EXPECT_FALSE(loop_readable(fd));
  EXPECT_TRUE(node.waits.try_lock());
  node.waits.unlock();
}

TEST_F(loop_turns, who_polls_ends_the_sleep_and_asks_for_a_turn) {
  turn();
  poll();
  EXPECT_EQ(node.disarmed, 1);
  EXPECT_TRUE(loop_readable(fd));
  turn();  // the same thread: the node sleeps again at once
  EXPECT_EQ(node.armed, 2);
  EXPECT_FALSE(loop_readable(fd));
}

TEST_F(loop_turns, beside_a_thread_that_polls_the_node_is_armed_later) {
  turn();
  int armed = node.armed;
  constexpr int tries = 10'000;
  for (int i = 1;; ++i) {  // on a busy machine, until this thread gets its turn before the node has rested
    std::thread([&] { poll(); }).join();
    EXPECT_TRUE(loop_readable(fd));
    armed = node.armed;
    turn();
    if (node.armed == armed) break;
    ASSERT_LT(i, tries) << "that thread would end the sleep at once";
  }
  EXPECT_TRUE(loop_readable(fd, 10'000)) << "nobody says that it has stopped: the time is limited";
  turn();
  EXPECT_EQ(node.armed, armed + 1);
}

/// It neither ends the announced sleep nor tells the loop anything, and a loop that is told of edges sees no second one
/// for what this turn was for.
TEST_F(loop_turns, beside_a_thread_that_only_passes_by_another_turn_follows) {
  const base::unique_fd loop = base::make_epoll();
  base::watch(loop.get(), fd, EPOLLIN | EPOLLET, nullptr);
  epoll_event event{};
  turn();
  while (::epoll_wait(loop.get(), &event, 1, 0) == 1) {
  }
  std::atomic<bool> locked{false};
  std::atomic<bool> done{false};
  std::thread other([&] {
    node.waits.lock();
    locked = true;
    while (!done) std::this_thread::yield();
    node.waits.unlock();
  });
  while (!locked) std::this_thread::yield();
  node.waits.wake_if_asleep();  // the news
  EXPECT_EQ(::epoll_wait(loop.get(), &event, 1, 10'000), 1);
  turn();
  done = true;
  other.join();
  EXPECT_EQ(::epoll_wait(loop.get(), &event, 1, 10'000), 1) << "the news lie there, and nobody takes them";
}

/// That thread may leave when it has executed its call, and tells nobody that the next one can begin.
TEST_F(loop_turns, calls_that_wait_behind_another_threads_are_looked_at_again) {
  node.deferred = true;
  turn();
  EXPECT_EQ(node.armed, 1);
  EXPECT_TRUE(loop_readable(fd, 10'000));
  node.deferred = false;
  turn();
  EXPECT_FALSE(loop_readable(fd, 20));
}

TEST_F(loop_turns, a_node_that_has_something_asks_for_a_turn) {
  node.refuses_sleep = true;
  turn();
  EXPECT_TRUE(loop_readable(fd));
  node.refuses_sleep = false;
  turn();
  EXPECT_FALSE(loop_readable(fd));
}

TEST_F(loop_turns, wake_ups_reach_the_loop) {
  turn();
  node.waits.wake_if_asleep();
  EXPECT_TRUE(loop_readable(fd));
  turn();
  EXPECT_FALSE(loop_readable(fd));
  node.waits.wake_finished();
  EXPECT_TRUE(loop_readable(fd)) << "another thread has settled something";
}

TEST_F(loop_turns, what_is_due_by_the_clock_makes_it_readable) {
  node.wakeup_ns = base::now_ns() + 5'000'000;
  turn();
  EXPECT_TRUE(loop_readable(fd, 10'000));
  const int checks = node.clock_checks;
  node.wakeup_ns = base::never_ns;
  turn();
  EXPECT_GT(node.clock_checks, checks) << "and a turn does it";
  EXPECT_FALSE(loop_readable(fd));
}

TEST_F(loop_turns, without_transports_it_is_polled_now_and_then) {
  node.is_connected = false;
  turn();
  EXPECT_EQ(node.armed, 0);
  EXPECT_FALSE(loop_readable(fd));
  EXPECT_TRUE(loop_readable(fd, 10'000));
}

TEST_F(loop_turns, a_thread_that_waits_sleeps_and_leaves_the_rest_to_the_loop) {
  turn();
  std::atomic<bool> done{false};
  std::thread other([&] { EXPECT_TRUE(node.wait([&] { return done.load(); })); });
  while (node.armed < 2) {  // in its own sleep, with the lock
    if (loop_readable(fd)) turn();
    std::this_thread::yield();
  }
  done = true;
  while (node.waits.sleeps() != 0 && !node.waits.try_lock()) node.waits.wake();
  node.waits.unlock();
  other.join();
  while (!loop_readable(fd, 10'000)) FAIL() << "nobody makes progress now, and the loop is not told";
}

}  // namespace
}  // namespace ham::detail
