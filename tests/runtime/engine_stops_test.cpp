// Calls that are stopped, as their node sends that and takes it: frames, outcomes, bytes that break the format.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace engine_stops_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::to_byte;
using detail::wire_kind;
using offload::when_stopped;

constexpr std::uint8_t stoppable_kind = to_byte(wire_kind::call) | detail::stoppable;

int stops_echo(int value) { return value; }
std::size_t stops_length(const std::vector<int>& what) { return what.size(); }

class engine_stops : public testing::Test {
 protected:
  template <class T>
  static std::string stopped(offload::future<T>& call, call_outcome outcome) {
    try {
      (void)call.get();
    } catch (const operation_cancelled& why) {
      EXPECT_EQ(why.outcome(), outcome);
      return why.what();
    }
    return "it was answered";
  }
  void reply(world::peer& from, std::uint32_t call, int value) {
    bytes result(sizeof value);
    std::memcpy(result.data(), &value, sizeof value);
    from.send({0, call, to_byte(wire_kind::reply)}, result);
    world_.step();
  }
  static void expect_stop(world::peer& at, std::uint32_t call) {
    const auto stop = at.receive();
    ASSERT_TRUE(stop);
    EXPECT_EQ(stop->first.kind, to_byte(wire_kind::cancel));
    EXPECT_EQ(stop->first.call, call);
    EXPECT_TRUE(stop->second.empty());
  }
  static std::uint64_t time_left(const bytes& payload) {
    std::uint64_t left = 0;
    std::memcpy(&left, payload.data(), sizeof left);
    return left;
  }

  quiet quiet_;
  world world_;
  detail::engine_scope scope_{&world_.node()};
};

TEST_F(engine_stops, only_calls_that_can_be_stopped_carry_more) {
  world::peer& peer = world_.listening();
  offload::async(peer.number, fn<&stops_echo>, 1).detach();
  const auto plain = peer.receive();
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->first.kind, to_byte(wire_kind::call));
  EXPECT_EQ(plain->second.size(), 4U);
  offload::async(offload::stoppable(peer.number), fn<&stops_echo>, 1).detach();
  const auto endless = peer.receive();
  ASSERT_TRUE(endless);
  EXPECT_EQ(endless->first.kind, stoppable_kind);
  EXPECT_EQ(endless->second.size(), 12U);
  EXPECT_EQ(time_left(endless->second), 0U);
  offload::async(offload::within(peer.number, 1h), fn<&stops_echo>, 1).detach();
  const auto bounded = peer.receive();
  ASSERT_TRUE(bounded);
  EXPECT_EQ(bounded->first.kind, stoppable_kind);
  EXPECT_GT(time_left(bounded->second), 3'000'000'000'000U);
  EXPECT_LE(time_left(bounded->second), 3'600'000'000'000U);
}

TEST_F(engine_stops, a_stop_is_sent_and_the_answer_counts) {
  world::peer& peer = world_.listening();
  auto call = offload::async(offload::stoppable(peer.number), fn<&stops_echo>, 1);
  const auto asked = peer.receive();
  ASSERT_TRUE(asked);
  EXPECT_TRUE(call.request_stop());
  expect_stop(peer, asked->first.call);
  EXPECT_FALSE(call.test());
  reply(peer, asked->first.call, 5);
  EXPECT_EQ(call.get(), 5);
}

TEST_F(engine_stops, at_once_settles_and_a_late_answer_is_dropped) {
  world::peer& peer = world_.listening();
  auto call = offload::async(offload::stoppable(peer.number), fn<&stops_echo>, 1);
  const auto asked = peer.receive();
  ASSERT_TRUE(asked);
  EXPECT_TRUE(call.request_stop(when_stopped::at_once));
  expect_stop(peer, asked->first.call);
  const std::string why = stopped(call, call_outcome::may_have_run);
  EXPECT_NE(why.find("stops_echo"), std::string::npos) << why;
  auto next = offload::async(peer.number, fn<&stops_echo>, 2);
  reply(peer, asked->first.call, 1);
  EXPECT_TRUE(peer.open()) << peer.reason();
  EXPECT_FALSE(next.test()) << "it was taken for the answer of another call";
  const auto second = peer.receive();
  ASSERT_TRUE(second);
  reply(peer, second->first.call, 2);
  EXPECT_EQ(next.get(), 2);
}

TEST_F(engine_stops, a_call_that_waits_for_room_here_is_taken_out) {
  world::peer& peer = world_.listening();
  while (auto one = offload::try_async(peer.number, fn<&stops_echo>, 0)) one->detach();
  auto call = offload::try_async(offload::stoppable(peer.number), fn<&stops_length>, std::vector<int>(1 << 17));
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->request_stop());
  EXPECT_TRUE(call->test());
  stopped(*call, call_outcome::not_run);
  for (int rounds = 0; rounds < 100; ++rounds) {  // now there is room
    world_.step();
    while (const auto frame = peer.receive()) {
      EXPECT_NE(frame->first.kind, to_byte(wire_kind::fragment)) << "pieces of a call that was taken out";
      EXPECT_NE(frame->first.kind, to_byte(wire_kind::cancel));
    }
  }
}

TEST_F(engine_stops, a_stop_of_a_call_that_is_not_there_is_none) {
  world::peer& peer = world_.listening();
  peer.send({0, 17, to_byte(wire_kind::cancel)}, {});
  world_.step();
  EXPECT_TRUE(peer.open()) << peer.reason();
  EXPECT_FALSE(peer.receive());
}

TEST_F(engine_stops, a_stop_that_breaks_the_format_closes_the_connection) {
  world::peer& peer = world_.listening();
  peer.send({0, 17, to_byte(wire_kind::cancel)}, bytes(1));
  world_.step();
  EXPECT_FALSE(peer.open());
  world::peer& other = world_.listening();
  other.send({0, detail::no_reply, to_byte(wire_kind::cancel)}, {});
  world_.step();
  EXPECT_FALSE(other.open());
  world::peer& third = world_.listening();
  third.send({key_of("stops_echo"), 3, stoppable_kind}, bytes(7));
  world_.step();
  EXPECT_FALSE(third.open());
}

TEST_F(engine_stops, a_call_with_any_time_left_is_executed) {
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{1} << 40U, UINT64_MAX}) {
    world::peer& peer = world_.listening();
    bytes payload(12);
    std::memcpy(payload.data(), &left, sizeof left);
    const int value = 6;
    std::memcpy(payload.data() + 8, &value, sizeof value);
    peer.send({key_of("stops_echo"), 3, stoppable_kind}, payload);
    world_.step();
    world_.step();
    EXPECT_TRUE(peer.open()) << peer.reason();
    const auto answer = peer.receive();
    ASSERT_TRUE(answer) << left;
    EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply));
    EXPECT_EQ(answer->first.call, 3U);
  }
}

std::function<void()> inside;

int calls_others(int) {
  inside();
  return 0;
}

/// The number of a call comes again after 4096 uses of its slot, while the function that has made it still runs.
TEST_F(engine_stops, what_a_stopped_call_has_made_is_not_taken_for_a_later_call_of_the_same_number) {
  constexpr int uses_of_a_number = 4096;
  world::peer& caller = world_.listening();
  world::peer& called = world_.listening();
  std::optional<offload::future<int>> others;
  bool same_number = false;
  inside = [&] {
    const auto call = [&](auto where) {
      auto made = offload::async(where, fn<&stops_echo>, 1);
      std::uint32_t number = 0;
      while (const auto asked = called.receive()) number = asked->first.call;
      reply(called, number, 1);
      EXPECT_EQ(made.get(), 1);
      return number;
    };
    const std::uint32_t mine = call(called.number);
    {
      const this_call::shield of_another_thread;
      for (int i = 1; i < uses_of_a_number; ++i) static_cast<void>(call(called.number));
      others.emplace(offload::async(called.number, fn<&stops_echo>, 2));
      while (const auto asked = called.receive()) same_number = asked->first.call == mine;
    }
    caller.send({0, 77, to_byte(wire_kind::cancel)}, {});
    world_.step();
    EXPECT_TRUE(this_call::stop_token().stop_requested());
    world_.step();
  };
  const std::uint32_t key = detail::call_of<fn_t<int (*)(int), &calls_others>, int>::message::entry().key();
  caller.send({key, 77, stoppable_kind}, bytes(12));  // no limit of time, and the argument
  world_.step();
  ASSERT_TRUE(others);
  EXPECT_TRUE(same_number) << "the test sees nothing";
  EXPECT_FALSE(others->test());
  EXPECT_FALSE(called.receive()) << "a stop of a call that nobody stops";
  others->detach();
}

}  // namespace engine_stops_test
