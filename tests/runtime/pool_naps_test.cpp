// How long who fills a pool sleeps: as long as its nodes have work, and not at all where that does not help.
#include "runtime/pool_naps.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ham::inline v1::offload::detail {
namespace {

constexpr std::size_t room = 64;

class naps : public testing::Test {
 protected:
  /// So many tasks have ended since the last wait.
  std::int64_t after(std::uint64_t tasks) { return all_.next_ns(ended_ += tasks, room); }

  pool_naps all_;
  std::uint64_t ended_ = 0;
};

TEST_F(naps, grow_until_two_thirds_of_the_tasks_end_meanwhile) {
  EXPECT_EQ(after(0), pool_naps::min_ns);
  std::int64_t last = pool_naps::min_ns;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t next = after(room / 4);
    EXPECT_GT(next, last);
    last = next;
  }
  EXPECT_EQ(after(2 * room / 3 + 1), last);
  EXPECT_EQ(after(2 * room / 3 + 1), last);
}

TEST_F(naps, shrink_when_nodes_run_out_of_tasks) {
  static_cast<void>(after(0));
  for (int i = 0; i < 4; ++i) static_cast<void>(after(room / 4));
  const std::int64_t before = after(2 * room / 3 + 1);
  EXPECT_LT(after(room), before);
  EXPECT_GE(after(room), pool_naps::min_ns);
}

TEST_F(naps, are_bounded) {
  for (int i = 0; i < 100; ++i) EXPECT_LE(after(room / 4), pool_naps::max_ns);
}

/// They wait for the thread that sleeps, say.
TEST_F(naps, during_which_no_task_ends_are_left_out_for_a_while) {
  EXPECT_NE(after(0), 0);
  EXPECT_EQ(after(0), 0);
  for (unsigned i = 0; i < pool_naps::waits_between_trials; ++i) EXPECT_EQ(after(room / 4), 0) << i;
  EXPECT_EQ(after(room / 4), pool_naps::min_ns) << "it is tried again";
}

/// In a short nap few tasks of a large pool can end.
TEST_F(naps, during_which_few_tasks_end_grow_fast_and_are_left_out_only_at_their_longest) {
  std::int64_t last = after(0);
  while (last != pool_naps::max_ns) {
    const std::int64_t next = after(1);
    ASSERT_EQ(next, std::min(pool_naps::max_ns, 4 * last));
    last = next;
  }
  EXPECT_EQ(after(1), 0);
}

TEST_F(naps, that_are_too_long_at_their_shortest_are_left_out_as_well) {
  EXPECT_EQ(after(0), pool_naps::min_ns);
  EXPECT_EQ(after(room), 0);
}

TEST_F(naps, need_room_for_some_tasks) {
  EXPECT_EQ(all_.next_ns(0, pool_naps::min_room - 1), 0);
  EXPECT_NE(all_.next_ns(0, pool_naps::min_room), 0);
}

}  // namespace
}  // namespace ham::offload::detail
