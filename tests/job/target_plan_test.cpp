// Numbers of targets, and who starts them.
#include "job/target_plan.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "job/node_list.hpp"

namespace ham::inline v1::detail {
namespace {

using row = std::tuple<node_t, std::string_view, node_t>;  // number, transport, who starts it

std::vector<row> rows(const fresh_targets& plan) {
  std::vector<row> result;
  for (const auto& [node, group, starter] : plan) result.emplace_back(node, group->by->name(), starter);
  return result;
}

TEST(target_plan, the_host_starts_what_nobody_else_does) {
  const auto groups = parse_nodes("shm:2,emulated");
  EXPECT_EQ(rows(plan_targets(groups, 7, 1)), (std::vector<row>{{7, "shm", 0}, {8, "shm", 0}, {9, "emulated", 0}}));
  EXPECT_EQ(rows(plan_targets(groups, 7, 4)).size(), 3U) << "ranks or not";
}

TEST(target_plan, each_rank_starts_as_many_behind_the_ranks_themselves) {
  const auto groups = parse_nodes("mpi:2,each:shm:2,emulated,each:exec:./other");
  const fresh_targets plan = plan_targets(groups, 3, 3);
  EXPECT_EQ(rows(plan), (std::vector<row>{{3, "shm", 0},
                                          {4, "shm", 0},
                                          {5, "shm", 1},
                                          {6, "shm", 1},
                                          {7, "shm", 2},
                                          {8, "shm", 2},
                                          {9, "emulated", 0},
                                          {10, "exec", 0},
                                          {11, "exec", 1},
                                          {12, "exec", 2}}));
  EXPECT_EQ(rows(targets_of(plan, 2)), (std::vector<row>{{7, "shm", 2}, {8, "shm", 2}, {12, "exec", 2}}));
}

TEST(target_plan, waiting_programs_come_before_what_they_start) {
  const auto groups = parse_nodes("shm,tcp://a:1*2/each:shm:2/each:emulated,shm");
  const fresh_targets plan = plan_targets(groups, 1, 1);
  EXPECT_EQ(rows(plan), (std::vector<row>{{1, "shm", 0},
                                          {2, "tcp", 0},
                                          {3, "tcp", 0},
                                          {4, "shm", 2},
                                          {5, "shm", 2},
                                          {6, "shm", 3},
                                          {7, "shm", 3},
                                          {8, "emulated", 2},
                                          {9, "emulated", 3},
                                          {10, "shm", 0}}));
  EXPECT_EQ(rows(targets_of(plan, 3)), (std::vector<row>{{6, "shm", 3}, {7, "shm", 3}, {9, "emulated", 3}}));
}

TEST(target_plan, groups_of_none) {
  const auto groups = parse_nodes("mpi,each:shm:0,shm:0");
  EXPECT_TRUE(plan_targets(groups, 3, 3).empty());
}

}  // namespace
}  // namespace ham::detail
