// Calls whose deadline passes: what is said, and that nothing of them is left.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace engine_deadlines_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::to_byte;
using detail::wire_kind;

int deadline_echo(int value) { return value; }
std::size_t deadline_length(const std::vector<int>& what) { return what.size(); }

class engine_deadlines : public testing::Test {
 protected:
  template <class T>
  static std::string missed(offload::future<T>& call, call_outcome outcome) {
    try {
      (void)call.get();
    } catch (const deadline_exceeded& why) {
      EXPECT_EQ(why.outcome(), outcome);
      return why.what();
    }
    return "it was answered";
  }
  static bytes as_reply(int value) {
    bytes result(sizeof value);
    std::memcpy(result.data(), &value, sizeof value);
    return result;
  }

  quiet quiet_;
  world world_;
  detail::engine_scope scope_{&world_.node()};
};

TEST_F(engine_deadlines, a_call_that_nobody_answers_fails_and_says_which) {
  const world::peer& peer = world_.listening();
  auto call = offload::async(offload::within(peer.number, 1ms), fn<&deadline_echo>, 1);
  const std::string why = missed(call, call_outcome::may_have_run);
  EXPECT_NE(why.find("deadline_echo"), std::string::npos) << why;
  EXPECT_NE(why.find(" on node " + std::to_string(peer.number) + " did not answer before its deadline"),
            std::string::npos)
      << why;
}

TEST_F(engine_deadlines, an_answer_that_comes_too_late_is_dropped) {
  world::peer& peer = world_.listening();
  auto call = offload::async(offload::within(peer.number, 1ms), fn<&deadline_echo>, 1);
  const auto asked = peer.receive();
  ASSERT_TRUE(asked);
  missed(call, call_outcome::may_have_run);
  const auto stop = peer.receive();
  ASSERT_TRUE(stop) << "the function is told";
  EXPECT_EQ(stop->first.kind, to_byte(wire_kind::cancel));
  EXPECT_EQ(stop->first.call, asked->first.call);
  auto next = offload::async(peer.number, fn<&deadline_echo>, 2);
  peer.send({0, asked->first.call, to_byte(wire_kind::reply)}, as_reply(1));
  world_.step();
  EXPECT_TRUE(peer.open()) << peer.reason();
  EXPECT_FALSE(next.test()) << "it was taken for the answer of another call";
  const auto second = peer.receive();
  ASSERT_TRUE(second);
  peer.send({0, second->first.call, to_byte(wire_kind::reply)}, as_reply(2));
  EXPECT_EQ(next.get(), 2);
}

TEST_F(engine_deadlines, an_answer_in_time_counts) {
  world::peer& peer = world_.listening();
  auto call = offload::async(offload::within(peer.number, 1h), fn<&deadline_echo>, 1);
  const auto asked = peer.receive();
  ASSERT_TRUE(asked);
  peer.send({0, asked->first.call, to_byte(wire_kind::reply)}, as_reply(5));
  EXPECT_EQ(call.get(), 5);
}

TEST_F(engine_deadlines, each_call_has_its_own) {
  const world::peer& peer = world_.listening();
  auto patient = offload::async(offload::within(peer.number, 1h), fn<&deadline_echo>, 1);
  auto hasty = offload::async(offload::within(peer.number, 1ms), fn<&deadline_echo>, 2);
  auto endless = offload::async(peer.number, fn<&deadline_echo>, 3);
  missed(hasty, call_outcome::may_have_run);
  EXPECT_FALSE(patient.test());
  EXPECT_FALSE(endless.test());
  patient.detach();  // their ends would wait
  endless.detach();
}

TEST_F(engine_deadlines, a_call_that_waits_for_room_is_taken_back) {
  world::peer& peer = world_.listening();
  while (auto one = offload::try_async(peer.number, fn<&deadline_echo>, 0)) one->detach();
  const std::vector<int> big(1 << 17);
  auto call = offload::async(offload::within(peer.number, 1ms), fn<&deadline_length>, big);
  const std::string why = missed(call, call_outcome::not_run);
  EXPECT_NE(why.find("has not run on node " + std::to_string(peer.number)), std::string::npos) << why;
  EXPECT_NE(why.find("allow more time, or call less at once"), std::string::npos) << why;
  const std::uint32_t key = key_of("deadline_length");
  for (int rounds = 0; rounds < 100; ++rounds) {  // now there is room
    world_.step();
    while (const auto frame = peer.receive()) {
      EXPECT_NE(frame->first.kind, to_byte(wire_kind::fragment)) << "pieces of a call that was taken back";
      EXPECT_FALSE(frame->first.kind == to_byte(wire_kind::call) && frame->first.key == key);
    }
  }
}

TEST_F(engine_deadlines, a_ping_waits_no_longer_than_its_deadline_for_a_node_that_wants_none) {
  world::peer& busy = world_.listening();
  busy.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bytes{std::byte{1}});
  world_.step();
  try {
    offload::ping(offload::within(busy.number, 1ms), fn<&deadline_echo>, 1);
    ADD_FAILURE() << "it was sent";
  } catch (const deadline_exceeded& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
  }
  EXPECT_FALSE(busy.receive());
  busy.send({0, detail::no_reply, to_byte(wire_kind::flow)}, bytes{std::byte{0}});
  world_.step();
  offload::ping(offload::within(busy.number, 1h), fn<&deadline_echo>, 1);
  EXPECT_TRUE(busy.receive());
}

}  // namespace engine_deadlines_test
