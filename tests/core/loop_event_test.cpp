// The descriptor of a loop: an event, a time, and what a node sleeps on.
#include "core/loop_event.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "base/clock.hpp"
#include "base/event_fds.hpp"

namespace ham::inline v1::detail {
namespace {

bool readable(int fd, int timeout_ms = 0) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, timeout_ms) == 1;
}

class loop_event_test : public testing::Test {
 protected:
  base::unique_fd sleeps_on = base::make_event();
  loop_event loop{sleeps_on.get()};
};

TEST_F(loop_event_test, asks_for_a_first_turn) {
  EXPECT_TRUE(readable(loop.fd()));
  loop.begin_turn();
  loop.drain();
  EXPECT_FALSE(readable(loop.fd()));
}

TEST_F(loop_event_test, is_readable_after_a_signal_until_it_is_drained) {
  loop.drain();
  loop.signal();
  loop.signal();
  EXPECT_TRUE(readable(loop.fd()));
  EXPECT_TRUE(readable(loop.fd())) << "nobody has drained it";
  loop.drain();
  EXPECT_FALSE(readable(loop.fd()));
  loop.signal();
  EXPECT_TRUE(readable(loop.fd()));
}

TEST_F(loop_event_test, signals_within_a_turn_belong_to_it) {
  loop.drain();
  loop.begin_turn();
  loop.signal();
  EXPECT_FALSE(readable(loop.fd()));
  loop.drain();
  EXPECT_FALSE(readable(loop.fd()));
  loop.signal();
  EXPECT_TRUE(readable(loop.fd()));
}

TEST_F(loop_event_test, follows_what_the_node_sleeps_on) {
  loop.drain();
  base::signal_event(sleeps_on.get());
  EXPECT_TRUE(readable(loop.fd()));
  base::drain_event(sleeps_on.get());
  EXPECT_FALSE(readable(loop.fd()));
}

TEST_F(loop_event_test, is_readable_at_its_time_and_may_be_set_again) {
  loop.drain();
  loop.set_time(base::now_ns() + 3'000'000'000);
  EXPECT_FALSE(readable(loop.fd()));
  const std::int64_t soon = base::now_ns() + 5'000'000;
  loop.set_time(soon);
  EXPECT_TRUE(readable(loop.fd(), 10'000));
  EXPECT_GE(base::now_ns(), soon);
  loop.set_time(base::never_ns);
  EXPECT_FALSE(readable(loop.fd()));
  loop.set_time(-5);
  EXPECT_TRUE(readable(loop.fd(), 10'000)) << "a time that has passed";
}

TEST_F(loop_event_test, knows_the_thread_of_the_last_turn) {
  EXPECT_FALSE(loop.is_mine());
  loop.begin_turn();
  EXPECT_TRUE(loop.is_mine());
  std::thread other([&] { EXPECT_FALSE(loop.is_mine()); });
  other.join();
}

}  // namespace
}  // namespace ham::detail
