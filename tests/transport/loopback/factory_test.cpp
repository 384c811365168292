// loopback in HAM_NODES, and the nodes of its jobs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "transport/groups.hpp"
#include "transport/in_process.hpp"

namespace ham::inline v1::transport::loopback {
namespace {

using test::group_of;
using test::refusal_of;

/// Notes who was met.
class noting final : public observer {
 public:
  void on_connected(endpoint& with) override { met.push_back(with.peer()); }
  void on_broken(node_t, const std::string&) override {}
  void on_lost(node_t peer, const std::string&) override { lost.push_back(peer); }
  std::vector<node_t> met, lost;
};

TEST(loopback_factory, reads_a_count) {
  EXPECT_EQ(group_of("loopback", "loopback").count, 1U);
  EXPECT_EQ(group_of("loopback", "loopback:4").count, 4U);
  EXPECT_NE(refusal_of("loopback", "loopback@1").find("can be given cores"), std::string::npos);
  EXPECT_NE(refusal_of("loopback", "loopback:1,").find("left over"), std::string::npos);
}

TEST(loopback_factory, makes_nodes_that_find_each_other) {
  noting observers[3];
  std::vector<std::unique_ptr<ham::transport::transport>> nodes;
  {
    const auto job = test::transport_named("loopback").as_in_process()->make_job(3);
    for (node_t node = 0; node < 3; ++node) {
      nodes.push_back(job->open(node, nullptr, observers[static_cast<std::size_t>(node)]));
    }
  }  // the sides outlive it
  nodes[0]->connect(2);
  EXPECT_EQ(observers[0].met, (std::vector<node_t>{2}));
  EXPECT_EQ(observers[2].met, (std::vector<node_t>{0}));
  nodes.pop_back();
  nodes[1]->connect(2);
  EXPECT_EQ(observers[1].lost, (std::vector<node_t>{2}));
}

}  // namespace
}  // namespace ham::transport::loopback
