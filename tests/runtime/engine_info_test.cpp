// What a node says of itself and of others.
#include <gtest/gtest.h>

#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "runtime/engine_info.hpp"

namespace engine_info_test {

using namespace ham;
using namespace ham::test;

int echo(int value) { return value; }

class engine_info : public testing::Test {
 protected:
  quiet quiet_;
  world world_;
  detail::engine& node_ = world_.node();
  const detail::engine_scope scope_{&node_};
};

TEST_F(engine_info, who_is_there_and_who_was_lost) {
  EXPECT_EQ(node_.peers.ready_nodes(node_.self()), std::vector<node_t>());
  const std::size_t alone = node_.peers.living_nodes();
  const node_t one = world_.friendly().number;
  const node_t two = world_.friendly().number;
  EXPECT_EQ(node_.peers.ready_nodes(node_.self()), (std::vector<node_t>{one, two}));
  EXPECT_EQ(node_.peers.living_nodes(), alone + 2);
  EXPECT_TRUE(is_alive(node_, one));
  EXPECT_EQ(describe(node_, one).node(), one);
  node_.events.on_died(one, "its process died");
  world_.step();
  EXPECT_FALSE(is_alive(node_, one));
  EXPECT_EQ(node_.peers.ready_nodes(node_.self()), std::vector<node_t>{two});
  EXPECT_EQ(node_.peers.living_nodes(), alone + 1);
  EXPECT_THROW(static_cast<void>(describe(node_, one)), node_failure);
}

TEST_F(engine_info, of_the_node_itself) {
  EXPECT_TRUE(is_alive(node_, node_.self()));
  EXPECT_EQ(describe(node_, node_.self()).node(), node_.self());
  EXPECT_EQ(describe(node_, node_.self()).pid(), ::getpid());
}

TEST_F(engine_info, calls_are_counted_at_both_ends) {
  const auto before = statistics_of(node_);
  EXPECT_EQ(offload::sync(node_.self(), fn<&echo>, 4), 4);
  const auto after = statistics_of(node_);
  EXPECT_EQ(after.calls_sent - before.calls_sent, 1U);
  EXPECT_EQ(after.calls_executed - before.calls_executed, 1U);
  EXPECT_GT(after.bytes_sent, before.bytes_sent);
  EXPECT_GT(after.bytes_received, before.bytes_received);
}

}  // namespace engine_info_test
