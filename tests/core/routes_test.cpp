// Who is next on the way to a node.
#include "core/routes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace routes_test {

using namespace ham;

/// Ranks 0 to 2; targets 3, 4 and 5 are theirs, in this order.
struct of_rank : detail::routes {
  explicit of_rank(node_t self) : routes(self) {
    set_neighbours(1, 3);
    for (const node_t rank : {0, 1, 2}) add(3 + rank, rank);
  }
};

std::vector<node_t> hops(const detail::routes& ways) {
  std::vector<node_t> result;
  for (node_t node = 0; node < 7; ++node) result.push_back(ways.hop_to(node));
  return result;
}

TEST(routes, the_host_is_next_to_all_but_the_targets_of_ranks) {
  EXPECT_EQ(hops(of_rank(0)), (std::vector<node_t>{0, 1, 2, 3, 1, 2, 6}));
}

TEST(routes, a_rank_is_next_to_ranks_and_its_own_targets) {
  EXPECT_EQ(hops(of_rank(1)), (std::vector<node_t>{0, 1, 2, 0, 4, 2, 0}));
}

TEST(routes, a_rank_that_was_added_is_next_to_those_that_came_with_it) {
  detail::routes ways(5);
  ways.set_neighbours(4, 6);
  EXPECT_EQ(hops(ways), (std::vector<node_t>{0, 0, 0, 0, 4, 5, 0}));
}

TEST(routes, a_target_sends_everything_to_whoever_has_started_it) {
  detail::routes ways(4);
  EXPECT_EQ(hops(ways), std::vector<node_t>(7, 0)) << "which is the host";
  ways.set_starter(1);
  EXPECT_EQ(hops(ways), std::vector<node_t>(7, 1));
  EXPECT_EQ(ways.starter(), 1);
}

TEST(routes, who_passes_on) {
  EXPECT_TRUE(of_rank(0).joins(3, 4)) << "its own";
  EXPECT_TRUE(of_rank(0).joins(6, 2)) << "a target that was added";
  EXPECT_TRUE(of_rank(0).joins(6, 5));
  EXPECT_FALSE(of_rank(0).joins(1, 2)) << "ranks have a way of their own";
  EXPECT_FALSE(of_rank(0).joins(1, 5));
  EXPECT_FALSE(of_rank(0).joins(4, 5));
  EXPECT_TRUE(of_rank(1).joins(4, 0));
  EXPECT_TRUE(of_rank(1).joins(5, 4));
  EXPECT_FALSE(of_rank(1).joins(5, 0));
  EXPECT_FALSE(detail::routes(4).joins(1, 2));
}

TEST(routes, who_is_lost_with_whom) {
  const of_rank ways(1);
  std::vector<node_t> lost;
  ways.for_each_behind(2, [&](node_t node) { lost.push_back(node); });
  EXPECT_EQ(lost, std::vector<node_t>{5});
  EXPECT_TRUE(ways.any_behind(2));
  EXPECT_FALSE(ways.any_behind(1)) << "its own are no others'";
  EXPECT_FALSE(ways.any_behind(5));
}

}  // namespace routes_test
