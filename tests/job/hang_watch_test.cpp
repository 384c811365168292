// When a node counts as one that hangs.
#include "job/hang_watch.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t limit = 100;

TEST(hang_watch, a_node_without_calls_is_idle) {
  hang_watch one;
  for (std::int64_t now = 0; now < 10 * limit; now += 10) EXPECT_FALSE(one.overdue(std::nullopt, now, limit));
  EXPECT_FALSE(one.overdue(1, 10 * limit, limit)) << "its first call is new";
}

TEST(hang_watch, the_oldest_call_may_take_so_long) {
  hang_watch one;
  EXPECT_FALSE(one.overdue(7, 0, limit));
  EXPECT_FALSE(one.overdue(7, limit, limit));
  EXPECT_TRUE(one.overdue(7, limit + 1, limit));
}

TEST(hang_watch, one_that_answers_call_by_call_works) {
  hang_watch one;
  for (std::uint32_t call = 0; call < 100; ++call) EXPECT_FALSE(one.overdue(call, call * limit, limit));
}

TEST(hang_watch, heartbeats_give_time) {
  hang_watch one;
  EXPECT_FALSE(one.overdue(7, 0, limit));
  for (std::int64_t now = 80; now < 20 * limit; now += 80) {
    one.beat(now);
    EXPECT_FALSE(one.overdue(7, now + 70, limit));
  }
  EXPECT_TRUE(one.overdue(7, 22 * limit, limit));
}

TEST(hang_watch, pieces_of_long_messages_give_time) {
  hang_watch one;
  one.see_pieces(5, 0);
  EXPECT_FALSE(one.overdue(7, 0, limit));
  for (std::int64_t now = 80; now < 20 * limit; now += 80) {
    one.see_pieces(static_cast<std::uint64_t>(now), now);
    EXPECT_FALSE(one.overdue(7, now + 70, limit));
  }
  one.see_pieces(1920, 22 * limit);
  EXPECT_TRUE(one.overdue(7, 22 * limit, limit)) << "no other one has come";
}

TEST(hang_watch, another_process_has_its_own_time) {
  hang_watch one;
  EXPECT_FALSE(one.overdue(7, 0, limit));
  one.restart();
  EXPECT_FALSE(one.overdue(7, 2 * limit, limit));
  EXPECT_TRUE(one.overdue(7, 4 * limit, limit));
}

}  // namespace
}  // namespace ham::detail
