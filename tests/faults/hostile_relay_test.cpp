// Frames between two other nodes that one of them has made up: only that one is to suffer.
#include <gtest/gtest.h>

#include <string>

#include "core/credit.hpp"
#include "core/wire.hpp"
#include "faults/hostile_world.hpp"

namespace ham::inline v1::test {
namespace {

using detail::to_byte;
using detail::wire_kind;

wire::ring_writer::head relayed(node_t node, std::uint32_t what) {
  return {static_cast<std::uint32_t>(node), what, to_byte(wire_kind::relay)};
}

bytes of(node_t sender, const bytes& text) { return of_sender(static_cast<std::uint32_t>(sender), text); }

class hostile_relay : public testing::Test {
 protected:
  quiet hushed_;
  world host_{200, 0, 1};
};

TEST_F(hostile_relay, frames_of_no_kind_reach_nobody) {
  world::peer& victim = host_.friendly();
  for (const std::uint32_t what : {0U, std::uint32_t{to_byte(wire_kind::relay)}, 0x3fU, 200U, 0xffU, 0x102U, ~0U}) {
    world::peer& one = host_.friendly();
    one.send(relayed(victim.number, what), of(one.number, bytes(40)));
    host_.step();
    EXPECT_FALSE(one.open()) << what;
    EXPECT_FALSE(victim.receive()) << what;
  }
  EXPECT_TRUE(victim.open());
}

TEST_F(hostile_relay, frames_to_nodes_that_are_none_end_their_sender) {
  for (const node_t node : {0, -1, 100'000, 1 << 30}) {
    world::peer& one = host_.friendly();
    one.send(relayed(node, to_byte(wire_kind::call)), of(one.number, bytes(40)));
    host_.step();
    EXPECT_FALSE(one.open()) << node;
  }
  world::peer& self = host_.friendly();
  self.send(relayed(self.number, to_byte(wire_kind::call)), of(self.number, bytes(40)));
  host_.step();
  EXPECT_FALSE(self.open());
}

TEST_F(hostile_relay, before_the_greeting_nothing_is_passed_on) {
  world::peer& victim = host_.friendly();
  world::peer& one = host_.connect();
  one.send(relayed(victim.number, to_byte(wire_kind::call)), of(one.number, bytes(40)));
  host_.step();
  EXPECT_FALSE(one.open());
  EXPECT_FALSE(victim.receive());
}

TEST_F(hostile_relay, a_node_that_ends_a_connection_does_not_blame_the_other_one) {
  world::peer& honest = host_.friendly();
  world::peer& other = host_.friendly();
  const auto frame = [](world::peer& from, const world::peer& to) {
    from.send(relayed(to.number, to_byte(wire_kind::call)), of(from.number, bytes(3000)));
  };
  for (int i = 0; i < 100; ++i) {  // more than a step of credit
    frame(other, honest);
    host_.step();
    EXPECT_TRUE(honest.receive());
  }
  frame(honest, other);
  other.send(relayed(honest.number, detail::relay_end), of(other.number, {}));
  host_.step();
  frame(honest, other);  // under way meanwhile
  honest.send(relayed(other.number, detail::relay_credit), of(honest.number, test::credit(detail::relay_credit_step)));
  host_.step();
  EXPECT_TRUE(honest.open());
  EXPECT_TRUE(other.open());
}

TEST_F(hostile_relay, ends_and_credits_are_not_multiplied) {
  world::peer& victim = host_.friendly();
  world::peer& one = host_.friendly();
  std::size_t heard = 0;
  for (int i = 0; i < 1000 && one.open(); ++i) {
    one.send(relayed(victim.number, detail::relay_end), of(one.number, bytes(2000, std::byte{'x'})));
    host_.step();
    while (auto got = victim.receive()) {
      ++heard;
      EXPECT_LE(got->second.size(), detail::relay_sender_bytes + detail::relay_max_reason);
    }
  }
  EXPECT_EQ(heard, 1U);
}

TEST_F(hostile_relay, the_host_is_not_to_blame_for_what_it_passes_on) {
  world target(3, 4, 0);
  world::peer& host = target.friendly();
  for (const std::uint32_t what : {0U, std::uint32_t{to_byte(wire_kind::relay)}, 0x3fU, 200U, 0x102U})
    host.send(relayed(4, what), of(5, bytes(40)));
  host.send(relayed(4, detail::relay_credit), of(5, test::credit(77)));
  host.send(relayed(4, detail::relay_credit), of(5, bytes(3)));
  host.send(relayed(4, to_byte(wire_kind::call)), of(5, bytes(40)));  // it has not greeted
  target.step(20);
  EXPECT_TRUE(host.open());
  host.send(relayed(4, to_byte(wire_kind::call)), of(4, bytes(40)));
  target.step();
  EXPECT_FALSE(host.open()) << "that one is the host's own: as of the target itself";
}

TEST_F(hostile_relay, a_host_does_not_make_a_target_pass_things_on) {
  world target(3, 6, 0);
  world::peer& host = target.friendly();
  host.send(relayed(4, to_byte(wire_kind::call)), of(5, bytes(40)));
  target.step();
  EXPECT_FALSE(host.open());
}

TEST_F(hostile_relay, who_speaks_for_another_one_is_heard_by_nobody) {
  world::peer& victim = host_.friendly();
  world::peer& other = host_.friendly();
  for (const node_t claimed : {other.number, 0, -1, 1 << 30}) {
    world::peer& one = host_.friendly();
    one.send(relayed(victim.number, to_byte(wire_kind::call)), of(claimed, bytes(40)));
    host_.step();
    EXPECT_FALSE(one.open()) << claimed;
    EXPECT_FALSE(victim.receive()) << claimed;
  }
  world::peer& nobody = host_.friendly();
  nobody.send(relayed(victim.number, detail::relay_end), bytes(7));
  host_.step();
  EXPECT_FALSE(nobody.open());
  EXPECT_TRUE(victim.open());
  EXPECT_TRUE(other.open());
}

}  // namespace
}  // namespace ham::test
