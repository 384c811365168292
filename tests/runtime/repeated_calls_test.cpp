// Which call the future of one that may be repeated stands for, and how a stop ends the repetition.
#include "runtime/repeated_calls.hpp"

#include <gtest/gtest.h>

#include "core/callable.hpp"

using namespace ham;
using namespace ham::detail;
using offload::when_stopped;

namespace repeated_calls_test {

class repeated : public testing::Test {
 protected:
  static msg::handler_entry& function() { return msg::handler_registrar<test::callable>::entry(); }
  repeated_calls all;
  call_slot future;
};

TEST_F(repeated, a_stop_finds_the_present_attempt) {
  EXPECT_FALSE(all.stop(future, when_stopped::at_once)) << "it is no such future";
  all.add(future, function());
  EXPECT_FALSE(all.is_stopped(future));
  EXPECT_FALSE(all.sent(future, 7));
  EXPECT_FALSE(all.sent(future, 8));
  const auto now = all.stop(future, when_stopped::after_answer);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->call, 8U);
  EXPECT_TRUE(all.is_stopped(future));
}

TEST_F(repeated, the_latest_attempt_is_known) {
  EXPECT_FALSE(all.latest(future)) << "it is no such future";
  all.add(future, function());
  ASSERT_TRUE(all.latest(future));
  EXPECT_FALSE(all.latest(future)->call) << "nothing was sent";
  EXPECT_FALSE(all.sent(future, 7));
  EXPECT_FALSE(all.sent(future, 8));
  EXPECT_EQ(all.latest(future)->call, 8U);
  all.remove(future);
  EXPECT_FALSE(all.latest(future));
}

TEST_F(repeated, an_attempt_that_is_sent_meanwhile_is_to_be_stopped) {
  all.add(future, function());
  const auto now = all.stop(future, when_stopped::at_once);
  ASSERT_TRUE(now);
  EXPECT_FALSE(now->call);
  EXPECT_EQ(all.sent(future, 9), when_stopped::at_once);
}

TEST_F(repeated, a_slot_that_is_used_again_is_another_future) {
  all.add(future, function());
  static_cast<void>(all.sent(future, 1));
  static_cast<void>(all.stop(future, when_stopped::at_once));
  all.remove(future);
  all.remove(future);
  EXPECT_FALSE(all.is_stopped(future));
  EXPECT_FALSE(all.sent(future, 2));
  all.add(future, function());
  EXPECT_FALSE(all.is_stopped(future));
}

TEST_F(repeated, functions_of_pending_calls_are_found) {
  const auto is_it = [](const msg::handler_entry& one) { return &one == &function(); };
  EXPECT_FALSE(all.any(is_it));
  all.add(future, function());
  EXPECT_TRUE(all.any(is_it));
  EXPECT_FALSE(all.any([](const msg::handler_entry&) { return false; }));
  all.remove(future);
  EXPECT_FALSE(all.any(is_it));
}

}  // namespace repeated_calls_test
