// Nodes that go, and whose places others take, in the middle of what is done with them.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "runtime/engine_info.hpp"

namespace engine_peers_test {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

std::function<void()> within_call;
int echo(int value) { return value; }
std::size_t length(const std::string& text) { return text.size(); }
int interrupted(int value) {
  within_call();
  return value;
}

/// One node, its peers played by the test.
class engine_peers : public testing::Test {
 protected:
  void call(world::peer& by) {
    using entry = detail::call_of<fn_t<int (*)(int), &interrupted>, int>;
    const std::uint32_t key = entry::message::entry().key();
    by.send({key, 7, to_byte(wire_kind::call)}, bytes{std::byte{5}, {}, {}, {}});
  }
  /// The process of a node dies, and two others have its place after it, so that nothing is left of it but what is in
  /// use. All of it within a call, where the receiving lock is free.
  void lose(node_t node) {
    detail::engine& at = world_.node();
    for (node_t next = node; next < node + 3 * places; next += places) {
      at.events.on_died(next, "its process died");
      world_.step();
      EXPECT_TRUE(at.peers.grow_to(static_cast<std::size_t>(next + places) + 1));
      at.locked([&] { EXPECT_TRUE(at.peers.expect(next + places)); });
    }
  }
  static constexpr node_t places = detail::peer_table::most;

  quiet quiet_;
  world world_;
  const detail::engine_scope scope_{&world_.node()};
};

TEST_F(engine_peers, a_call_that_waits_for_room_at_a_node_that_goes) {
  world::peer& full = world_.friendly();
  world::peer& other = world_.friendly();
  while (auto one = offload::try_async(full.number, fn<&echo>, 1)) one->detach();
  within_call = [&] { lose(full.number); };
  call(other);
  try {
    offload::sync(full.number, fn<&echo>, 1);
    ADD_FAILURE() << "it was sent to nobody";
  } catch (const node_failure& lost) {
    EXPECT_EQ(lost.node(), full.number);
    EXPECT_EQ(lost.outcome(), call_outcome::not_run);
  }
}

TEST_F(engine_peers, a_long_message_on_its_way_to_a_node_that_goes) {
  world::peer& full = world_.friendly();
  world::peer& other = world_.friendly();
  while (auto one = offload::try_async(full.number, fn<&echo>, 1)) one->detach();
  within_call = [&] { lose(full.number); };
  call(other);
  auto sent = offload::async(full.number, fn<&length>, std::string(1 << 20, 'x'));
  EXPECT_THROW(sent.get(), node_failure);
}

TEST_F(engine_peers, a_ping_that_waits_for_a_node_that_goes) {
  world::peer& slow = world_.friendly();
  world::peer& other = world_.friendly();
  slow.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bytes{std::byte{1}});
  world_.step();
  within_call = [&] { lose(slow.number); };
  call(other);
  EXPECT_THROW(offload::ping(slow.number, fn<&echo>, 1), node_failure);
}

TEST_F(engine_peers, a_call_that_outlives_its_caller) {
  world::peer& caller = world_.friendly();
  within_call = [&] { lose(caller.number); };
  call(caller);
  world_.step();
  EXPECT_FALSE(caller.open());
  const std::uint64_t sent = detail::statistics_of(world_.node()).calls_sent;
  world::peer& next = world_.friendly();
  offload::async(next.number, fn<&echo>, 1).detach();
  EXPECT_EQ(detail::statistics_of(world_.node()).calls_sent, sent + 1);
}

TEST_F(engine_peers, a_batch_whose_caller_goes_in_its_first_call) {
  world::peer& caller = world_.friendly();
  int runs = 0;
  within_call = [&] {
    if (++runs == 1) lose(caller.number);
  };
  using entry = detail::call_of<fn_t<int (*)(int), &interrupted>, int>;
  bytes records(2 * 16);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t record[] = {entry::message::entry().key(), i + 1, 4, 5};
    std::memcpy(records.data() + i * sizeof record, record, sizeof record);
  }
  caller.send({2, detail::no_reply, to_byte(wire_kind::batch)}, records);
  world_.step();
  EXPECT_EQ(runs, 2) << "what was taken runs";
}

}  // namespace engine_peers_test
