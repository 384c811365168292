// Calls that were received: copies outlast their buffer, and what is thrown goes to who called.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

#include "core/thread_state.hpp"
#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace received_call_test {

using namespace ham;
using namespace ham::test;
using detail::to_byte;
using detail::wire_kind;

int received_echo(int value) { return value; }

/// What the body of every call here does.
std::function<void(detail::incoming_call&)> act;
void body(detail::incoming_call& call) { act(call); }

using received = detail::received_call<&body>;

class received_calls : public testing::Test {
 protected:
  /// A call of 4 bytes that came from this peer.
  detail::incoming_call call_of(world::peer& from, std::span<const std::byte> payload, std::uint32_t id = 5) {
    auto& function = detail::call_of<fn_t<decltype(&received_echo), &received_echo>, int>::message::entry();
    static_cast<void>(function.resolve());
    detail::incoming_call call;
    call.at = &world_.node();
    call.from = &*world_.node().peer_of(from.number);
    call.payload = payload;
    call.call = id;
    call.function = &function;
    return call;
  }
  /// The call was answered with an exception, and the connection stays.
  void expect_an_exception_for(world::peer& peer) {
    world_.step();
    EXPECT_TRUE(peer.open()) << peer.reason();
    const auto answer = peer.receive();
    EXPECT_TRUE(answer && answer->first.kind == to_byte(wire_kind::reply_error));
  }
  static std::byte first_byte(const detail::incoming_call& of) { return of.payload[0]; }

  quiet quiet_;
  world world_;
};

TEST_F(received_calls, that_are_run_at_once_are_those_that_came) {
  world::peer& peer = world_.listening();
  bytes payload(4, std::byte{7});
  detail::incoming_call call = call_of(peer, payload);
  const detail::incoming_call* seen = nullptr;
  act = [&](detail::incoming_call& what) { seen = &what; };
  received one(call);
  one();
  EXPECT_EQ(seen, &call) << "nothing was copied";
}

TEST_F(received_calls, a_copy_outlasts_the_buffer_and_works_for_the_same_engine) {
  world::peer& peer = world_.listening();
  std::optional<received> copy;
  {
    bytes payload(4, std::byte{7});
    detail::incoming_call call = call_of(peer, payload, 9);
    const received original(call);
    copy.emplace(original);
    std::fill(payload.begin(), payload.end(), std::byte{0xee});
    call.call = 77;
  }
  std::byte found{};
  std::uint32_t id = 0;
  detail::engine* works_for = nullptr;
  act = [&](detail::incoming_call& what) {
    found = first_byte(what);
    id = what.call;
    works_for = detail::current_or_null();
  };
  std::thread([&] {
    (*copy)();
    EXPECT_NE(detail::this_thread.current, &world_.node()) << "only during the call";
  }).join();
  EXPECT_EQ(found, std::byte{7});
  EXPECT_EQ(id, 9U);
  EXPECT_EQ(works_for, &world_.node());
}

TEST_F(received_calls, copies_of_copies_are_independent_and_moves_are_not) {
  world::peer& peer = world_.listening();
  bytes payload(4, std::byte{3});
  detail::incoming_call call = call_of(peer, payload);
  int runs = 0;
  act = [&](detail::incoming_call& what) {
    ++runs;
    EXPECT_EQ(first_byte(what), std::byte{3});
  };
  std::optional<received> first(std::in_place, received(call));
  std::optional<received> second(*first);
  std::optional<received> third(*second);
  std::optional<received> moved(std::move(*second));
  first.reset();
  second.reset();
  (*third)();
  third.reset();
  (*moved)();
  EXPECT_EQ(runs, 2);
}

TEST_F(received_calls, what_a_function_throws_goes_to_the_caller) {
  world::peer& peer = world_.listening();
  bytes payload(4);
  detail::incoming_call call = call_of(peer, payload, 5);
  act = [](detail::incoming_call& what) {
    what.decoded = true;
    throw std::domain_error("not with me");
  };
  received one(call);
  one();
  const auto answer = peer.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply_error));
  EXPECT_EQ(answer->first.call, 5U);
  EXPECT_TRUE(peer.open());
}

TEST_F(received_calls, a_functions_protocol_error_is_not_the_peers) {
  world::peer& peer = world_.listening();
  bytes payload(4);
  detail::incoming_call call = call_of(peer, payload);
  act = [](detail::incoming_call& what) {
    what.decoded = true;
    throw protocol_error("of another connection");
  };
  received one(call);
  one();
  expect_an_exception_for(peer);
}

TEST_F(received_calls, arguments_that_are_nonsense_close_the_connection) {
  world::peer& peer = world_.listening();
  bytes payload(4);
  detail::incoming_call call = call_of(peer, payload);
  act = [](detail::incoming_call&) { throw protocol_error("a text that does not end"); };
  received one(call);
  one();
  world_.step();
  EXPECT_FALSE(peer.open());
}

TEST_F(received_calls, a_users_codec_that_does_not_like_them_answers) {
  world::peer& peer = world_.listening();
  bytes payload(4);
  detail::incoming_call call = call_of(peer, payload);
  act = [](detail::incoming_call&) { throw std::runtime_error("I do not like it"); };
  received one(call);
  one();
  expect_an_exception_for(peer);
}

}  // namespace received_call_test
