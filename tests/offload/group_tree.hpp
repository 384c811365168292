// The way of a call of a group through its nodes, from the messages that each of them has sent: for tests of every kind
// of transport.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ham/offload.hpp"
#include "ham/offload/group.hpp"

namespace ham::inline v1::test::group_tree {

inline void nothing() {}
/// To each node of the job, in order.
inline std::vector<std::uint64_t> calls_to_each() {
  std::vector<std::uint64_t> all;
  for (std::size_t node = 0; node < offload::num_nodes(); ++node)
    all.push_back(offload::stats_with(static_cast<node_t>(node)).calls_sent);
  return all;
}

/// What each node, this one first, has sent to each. Asking sends calls of this one, which are not among those that it
/// counts afterwards.
inline std::vector<std::vector<std::uint64_t>> calls_of_each() {
  std::vector<std::vector<std::uint64_t>> all(1);
  for (std::size_t node = 1; node < offload::num_nodes(); ++node)
    all.push_back(offload::sync(static_cast<node_t>(node), fn<&calls_to_each>));
  all.front() = calls_to_each();
  return all;
}

/// 8 nodes are one message away, 64 more two, and so on.
inline int documented_depth(std::size_t nodes) {
  int depth = 1;
  for (std::size_t level = 8, sum = 8; sum < nodes; ++depth) sum += (level *= 8);
  return depth;
}

/// Of all targets of a job, whose host this is. Nothing else may be under way.
inline void expect_tree() {
  const offload::group all;
  const std::size_t nodes = offload::num_nodes();
  ASSERT_EQ(all.size(), nodes - 1);
  offload::sync_all(all, fn<&nothing>);  // connects
  const auto before = calls_of_each();
  offload::sync_all(all, fn<&nothing>);
  const auto own = calls_to_each();
  auto after = calls_of_each();
  after.front() = own;

  std::vector<int> depth(nodes, -1);
  depth[0] = 0;
  std::vector<std::size_t> reached{0};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::size_t from = reached[next];
    std::uint64_t sent = 0;
    for (std::size_t to = 0; to < nodes; ++to) {
      const std::uint64_t calls = after[from][to] - before[from][to];
      sent += calls;
      if (calls == 0) continue;
      EXPECT_EQ(calls, 1U) << from << " to " << to;
      EXPECT_EQ(depth[to], -1) << to << " has got it twice";
      depth[to] = depth[from] + 1;
      reached.push_back(to);
    }
    EXPECT_LE(sent, 8U) << "by node " << from;
  }
  EXPECT_EQ(reached.size(), nodes) << "each node gets it, and this one does not";
  int deepest = 0;
  for (const int one : depth) deepest = std::max(deepest, one);
  EXPECT_EQ(deepest, documented_depth(nodes - 1));
}

}  // namespace ham::test::group_tree
