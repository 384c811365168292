// Room for the tasks of a pool: more while they are short, and as much as the program says if it does.
#include "runtime/pool_room.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::offload::detail {
namespace {

class room_of_two_nodes : public testing::Test {
 protected:
  /// It is full again after so many tasks of each node, each of which has taken so long.
  bool grows_after(std::size_t tasks, std::int64_t task_ns) {
    return all_.adapt(ended_ += 2 * tasks, 2, now_ns_ += static_cast<std::int64_t>(tasks) * task_ns);
  }

  pool_room all_{0};
  std::uint64_t ended_ = 0;
  std::int64_t now_ns_ = 1'000'000'000'000;  // since the machine was started
};

TEST_F(room_of_two_nodes, is_what_a_node_does_in_a_while) {
  EXPECT_EQ(all_.of_node(), pool_room::few);
  EXPECT_FALSE(grows_after(32, 10'000)) << "nobody knows how long that took";
  EXPECT_TRUE(grows_after(32, 40'000));
  EXPECT_EQ(all_.of_node(), 64U);
  EXPECT_TRUE(grows_after(32, 10'000));
  EXPECT_EQ(all_.of_node(), pool_room::many);
  EXPECT_FALSE(grows_after(128, 20'000));
  EXPECT_EQ(all_.of_node(), 128U);
  EXPECT_TRUE(grows_after(1000, 10));
  EXPECT_EQ(all_.of_node(), pool_room::many);
  EXPECT_FALSE(grows_after(1, 1'000'000'000));
  EXPECT_EQ(all_.of_node(), pool_room::few);
}

TEST_F(room_of_two_nodes, is_measured_by_more_than_a_few_tasks) {
  static_cast<void>(grows_after(32, 10'000));
  for (int i = 0; i < 15; ++i) EXPECT_FALSE(grows_after(1, 40'000)) << i;
  EXPECT_EQ(all_.of_node(), pool_room::few);
  EXPECT_TRUE(grows_after(1, 40'000)) << "all together";
  EXPECT_EQ(all_.of_node(), 64U);
}

TEST_F(room_of_two_nodes, is_little_where_there_are_cores_or_no_nodes) {
  static_cast<void>(grows_after(32, 10'000));
  EXPECT_TRUE(grows_after(32, 10'000));
  all_.be_few();
  EXPECT_EQ(all_.of_node(), pool_room::few);
  EXPECT_FALSE(all_.adapt(ended_, 0, now_ns_));
  EXPECT_EQ(all_.of_node(), pool_room::few);
}

TEST_F(room_of_two_nodes, is_measured_anew_behind_a_break) {
  static_cast<void>(grows_after(32, 10'000));
  EXPECT_TRUE(grows_after(32, 10'000));
  all_.start_anew();
  EXPECT_EQ(all_.of_node(), pool_room::few);
  EXPECT_FALSE(grows_after(256, 10'000)) << "these were the tasks before";
  EXPECT_FALSE(grows_after(1, 1'000'000'000));
  EXPECT_FALSE(grows_after(32, 100'000));
  EXPECT_TRUE(grows_after(32, 10'000));
}

TEST(room, that_is_set_stays) {
  pool_room set(100);
  for (std::uint64_t full = 0; full < 10; ++full)
    EXPECT_FALSE(set.adapt(1000 * full, 2, static_cast<std::int64_t>(full)));
  set.be_few();
  EXPECT_EQ(set.of_node(), 100U);
}

}  // namespace
}  // namespace ham::offload::detail
