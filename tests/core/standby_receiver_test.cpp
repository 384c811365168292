// The receiver that stands in for a serving thread. Who is not woken hangs.
#include "core/standby_receiver.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/idle_node.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

struct served : test::idle_node {
  standby_receiver standby{nullptr, *this, waits};
  ~served() override { standby.stop(); }
};

TEST(standby_receiver, receives_while_a_call_runs_for_long) {
  served node;
  std::atomic<bool> received{false};
  node.on_receive = [&] {
    EXPECT_TRUE(this_thread.only_receives) << "it must not execute calls";
    received = true;
    return false;
  };
  node.executes = true;
  node.standby.start();
  while (!received) std::this_thread::yield();
  node.executes = false;
}

TEST(standby_receiver, does_not_receive_while_nothing_runs) {
  served node;
  node.standby.start();
  node.standby.stop();
  EXPECT_EQ(node.polls, 0);
}

TEST(standby_receiver, is_not_started_where_nobody_serves) {
  served node;
  node.serves = false;
  node.executes = true;
  node.standby.start();
  node.standby.stop();
  EXPECT_EQ(node.polls, 0);
}

TEST(standby_receiver, ends_while_the_call_still_runs) {
  served node;
  node.executes = true;
  node.standby.start();
  while (node.polls == 0) std::this_thread::yield();
  node.standby.stop();
}

TEST(standby_receiver, polls_for_a_context_until_its_news) {
  served node;
  std::atomic<bool> news{false};
  node.on_receive = [&] {
    EXPECT_TRUE(node.standby.is_polling());
    EXPECT_TRUE(this_thread.only_receives);
    news = true;
    return true;
  };
  node.standby.poll_for_context(news);
  EXPECT_FALSE(this_thread.only_receives);
  EXPECT_FALSE(node.standby.is_polling());
  EXPECT_TRUE(node.standby.polls()) << "the serving thread leaves the lock to the next one for a while";
  EXPECT_FALSE(node.standby.polls());
}

TEST(standby_receiver, gives_up_polling_for_a_context_after_a_while) {
  served node;
  const std::atomic<bool> news{false};
  node.standby.poll_for_context(news);
  EXPECT_GT(node.polls, 0);
  EXPECT_FALSE(node.standby.polls());
}

TEST(standby_receiver, lets_a_thread_have_the_lock_that_is_to_execute_what_was_set_aside) {
  served node;
  std::atomic<bool> news{false};
  node.on_receive = [&] {  // in the gap between two polls nobody else gets the lock by trying now and then
    if (!this_thread.only_receives) return false;
    base::sleep_ns(1'000'000);
    return true;
  };
  node.deferred = true;
  std::thread context([&] { node.standby.poll_for_context(news); });
  while (!node.standby.is_polling()) std::this_thread::yield();
  EXPECT_TRUE(node.wait([&] { return !node.deferred; }));
  news = true;
  context.join();
}

TEST(standby_receiver, does_not_poll_where_cores_are_short) {
  served node;
  node.spare_cores = false;
  const std::atomic<bool> news{false};
  node.standby.poll_for_context(news);
  EXPECT_EQ(node.polls, 0);
}

}  // namespace
}  // namespace ham::detail
