// What targets are started with, and by whom.
#include "job/started_targets.hpp"

#include <gtest/gtest.h>

#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;
using words = std::vector<std::string>;

fresh_targets numbered(node_t first, const std::vector<target_group>& groups) {
  fresh_targets fresh;
  for (const target_group& group : groups) {
    for (std::size_t i = 0; i < group.count; ++i) fresh.emplace_back(first + static_cast<node_t>(fresh.size()), &group);
  }
  return fresh;
}

target_defaults defaults(std::vector<int> places = {}) {
  target_defaults result;
  result.command = {"./app", "-v"};
  result.placement.automatic = false;
  result.placement.cores = std::move(places);
  return result;
}

TEST(started_targets, run_the_program_of_the_host_or_of_their_group) {
  starts_log log;
  const starting_played by(log);
  std::vector<target_group> groups(3, target_group(by));
  groups[1].program.command = {"qemu", "./other"};
  groups[1].program.environment = {"A=B"};
  groups[2].program.command = {"./whole", "-x"};
  groups[2].program.complete = true;
  lone_node host;
  started_targets targets(*host, defaults());
  targets.start(numbered(1, groups), 4);
  ASSERT_EQ(log.started.size(), 3U);
  EXPECT_EQ(log.started[0].at(0).command, (words{"./app", "-v"}));
  EXPECT_TRUE(log.started[0].at(0).environment.empty());
  EXPECT_EQ(log.started[1].at(0).command, (words{"qemu", "./other", "-v"})) << "the application's arguments follow";
  EXPECT_EQ(log.started[1].at(0).environment, (words{"A=B"}));
  EXPECT_EQ(log.started[2].at(0).command, (words{"./whole", "-x"}));
  EXPECT_EQ(targets.command(), (words{"./app", "-v"}));
}

TEST(started_targets, have_numbers_places_and_cores) {
  starts_log log;
  const starting_played by(log);
  std::vector<target_group> groups{target_group(by, 3), target_group(by, 2), target_group(by, 1)};
  groups[0].cores = {4, 5};
  groups[2].cores = {4, 5};
  groups[2].program.command = {"./whole"};
  groups[2].program.complete = true;
  lone_node host;
  started_targets targets(*host, defaults({0, 1, 2}));
  targets.start(numbered(7, groups), 13);
  ASSERT_EQ(log.started.size(), 3U);
  std::vector<node_t> numbers;
  std::vector<std::size_t> members;
  std::vector<std::vector<int>> placed;
  for (const auto& group : log.started) {
    for (const transport::start_plan& one : group) {
      numbers.push_back(one.node);
      members.push_back(one.member);
      placed.push_back(one.cores);
    }
  }
  EXPECT_EQ(numbers, (std::vector<node_t>{7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(members, (std::vector<std::size_t>{0, 1, 2, 0, 1, 0}));
  EXPECT_EQ(placed, (std::vector<std::vector<int>>{{4}, {5}, {4}, {10 % 3}, {11 % 3}, {4, 5}}))
      << "of the group in turn, of the node's number, or all for a program of its own";
  for (const transport::job_size& size : log.sizes) EXPECT_EQ(size.nodes, 13U);
}

TEST(started_targets, have_the_place_and_core_again_that_they_had_in_their_group) {
  starts_log log;
  const starting_played by(log);
  target_group all(by, 3);
  all.cores = {4, 5};
  all.restarts = true;
  const target_group second = all.alone(1);
  EXPECT_EQ(second.count, 1U);
  EXPECT_EQ(second.places(), 3U);
  EXPECT_FALSE(second.restarts);
  const std::vector<target_group> groups{second, all.alone(2), second.alone(0)};
  lone_node host;
  started_targets targets(*host, defaults());
  targets.start(numbered(4, groups), 7);
  ASSERT_EQ(log.started.size(), 3U);
  EXPECT_EQ(log.started[0].at(0).member, 1U);
  EXPECT_EQ(log.started[0].at(0).cores, std::vector<int>{5});
  EXPECT_EQ(log.started[1].at(0).member, 2U);
  EXPECT_EQ(log.started[1].at(0).cores, std::vector<int>{4});
  EXPECT_EQ(log.started[2].at(0).member, 1U) << "also when it is started once more";
  EXPECT_EQ(log.started[2].at(0).cores, std::vector<int>{5});
  EXPECT_EQ(groups[2].places(), 3U);
}

TEST(started_targets, of_one_transport_share_a_side) {
  starts_log log;
  starts_log other_log;
  const starting_played by(log);
  const starting_played other(other_log);
  const network_played waiting;
  const std::vector<target_group> groups{target_group(by), target_group(other, 2), target_group(by),
                                         waiting.at("host", 7000)};
  lone_node host;
  started_targets targets(*host, defaults());
  targets.start(numbered(1, groups), 6);
  targets.start(numbered(6, {groups[0]}), 7);
  EXPECT_EQ(log.hosts_made, 1U);
  EXPECT_EQ(log.started.size(), 3U);
  EXPECT_EQ(other_log.hosts_made, 1U);
  EXPECT_EQ(other_log.started.size(), 1U) << "who is invited is started by nobody";
  targets.end(2, std::chrono::milliseconds(1));
  EXPECT_EQ(log.ended, (std::vector<node_t>{2}));
  EXPECT_EQ(other_log.ended, (std::vector<node_t>{2})) << "sides know their own";
  EXPECT_FALSE(targets.has_place_of(3));
  other_log.placed = 3;
  EXPECT_TRUE(targets.has_place_of(3));
}

TEST(started_targets, have_no_core_of_their_own_where_the_user_says_where_nodes_run) {
  starts_log log;
  const starting_played by(log, true);
  const std::vector<target_group> groups{target_group(by, 2)};
  lone_node host;
  started_targets targets(*host, defaults());
  targets.start(numbered(1, groups), 3);
  EXPECT_EQ(log.homes, (std::map<node_t, int>{{1, -1}, {2, -1}}));
}

}  // namespace
}  // namespace ham::detail
