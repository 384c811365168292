// How much a node may set aside for later.
#include "core/backlog.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::detail {
namespace {

TEST(backlog, is_bounded_in_bytes) {
  backlog waiting;
  waiting.limit(100);
  EXPECT_EQ(waiting.max_bytes(), 100U);
  EXPECT_TRUE(waiting.take(60));
  EXPECT_FALSE(waiting.take(41));
  EXPECT_TRUE(waiting.take(40)) << "what was refused takes no room";
  EXPECT_FALSE(waiting.take(1));
  waiting.give(60);
  EXPECT_TRUE(waiting.take(60));
}

TEST(backlog, says_when_to_stop_and_later_when_to_go_on) {
  backlog waiting;
  waiting.limit(400);
  ASSERT_TRUE(waiting.take(300));
  EXPECT_FALSE(waiting.filling());
  ASSERT_TRUE(waiting.take(1));
  EXPECT_TRUE(waiting.filling());
  waiting.give(1);
  EXPECT_FALSE(waiting.filling());
  EXPECT_FALSE(waiting.draining()) << "in between nothing changes, so that senders are not told at every message";
  waiting.give(300);
  ASSERT_TRUE(waiting.take(200));
  EXPECT_TRUE(waiting.draining());
}

TEST(backlog, is_bounded_in_messages) {
  backlog waiting;
  for (std::size_t i = 0; i < backlog::max_messages; ++i) ASSERT_TRUE(waiting.take(0)) << i;
  EXPECT_TRUE(waiting.filling());
  EXPECT_FALSE(waiting.take(0));
  waiting.give(0);
  EXPECT_TRUE(waiting.take(0));
}

}  // namespace
}  // namespace ham::detail
