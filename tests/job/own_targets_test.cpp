// Targets that a rank or a waiting program has of its own: started as asked, lost if that cannot be.
#include "job/own_targets.hpp"

#include <gtest/gtest.h>

#include "job/played.hpp"

namespace ham::inline v1::detail {
namespace {

using namespace ham::test;

std::string reason_of_loss(engine& node, node_t peer) {
  try {
    node.await_ready(peer);
  } catch (const node_failure& lost) {
    return lost.what();
  }
  return "none";
}

/// Node 2, whose played transport starts nothing.
class own_targets_of_a_node : public testing::Test {
 protected:
  own_targets_of_a_node() { own_.attach(*node_, directory_); }

  lone_node node_{2, 8};
  node_directory directory_{*node_, {}};
  own_targets own_{target_defaults{{"./app"}, {}}};
};

TEST_F(own_targets_of_a_node, are_started_and_ended_by_their_transport) {
  starts_log log;
  const starting_played by(log);
  const transport::target_group group(by, 2);
  own_.start({{5, &group, 2}, {6, &group, 2}}, 8, false);
  ASSERT_EQ(log.started.size(), 1U);
  EXPECT_EQ(log.started.front().size(), 2U);
  EXPECT_EQ(log.started.front().front().node, 5);
  own_.end();
  EXPECT_EQ(log.ended, (std::vector<node_t>{5, 6}));
}

TEST_F(own_targets_of_a_node, of_groups_that_only_a_host_names_are_lost) {
  const start_request request{kind_of(notice::start_targets),
                              8,
                              {{3, 1, "exec:/bin/sh"}, {4, 2, "shm:1"}, {6, 1, "tcp://a:1"}, {7, 1, "shm,shm"}}};
  for (node_t node = 3; node < 8; ++node) {
    node_->ways.add(node, 2);
    EXPECT_TRUE(node_->peers.expect(node));
  }
  own_.start(request);
  for (node_t node = 3; node < 8; ++node)
    EXPECT_NE(reason_of_loss(*node_, node).find("none that a waiting program starts"), std::string::npos) << node;
  own_.end();
}

}  // namespace
}  // namespace ham::detail
