// What is reserved for a message and not sent is given back: room in the ring, memory, slot, lock.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/batch_reply.hpp"
#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace reservation_test {

using namespace ham;
using namespace ham::test;
using detail::call_room;
using detail::reply_room;
using detail::reservation;
using detail::to_byte;
using detail::wire_kind;

/// Refuses to be encoded.
struct stubborn {};

int echo(int value) { return value; }
int take(const stubborn&) { return 0; }
stubborn give(int) { return {}; }

}  // namespace reservation_test

template <>
struct ham::codec<reservation_test::stubborn> {
  static std::size_t size(const reservation_test::stubborn&) { return 4; }
  static void write(msg::writer&, const reservation_test::stubborn&) { throw std::domain_error("not today"); }
  static reservation_test::stubborn read(msg::reader& from) {
    (void)msg::decode<int>(from);
    return {};
  }
};

namespace reservation_test {

const bool offered = offload::offer(fn<&give>);          // nobody here calls it
constexpr std::size_t long_size = std::size_t{1} << 20;  // more than a frame holds

class reservations : public testing::Test {
 protected:
  call_room begin(world::peer& to, std::size_t size = sizeof(int),
                  detail::result_decoder decode = &detail::slot_value<int>::decode) {
    auto& function = detail::call_of<fn_t<decltype(&echo), &echo>, int>::message::entry();
    call_room out;
    EXPECT_TRUE(detail::begin_call(world_.node(), {to.number}, function, size, decode, detail::when_full::refuse, out));
    return out;
  }
  static reply_room room_for_reply(detail::incoming_call& call, std::size_t size) {
    reply_room out;
    detail::begin_reply(call, size, out);
    return out;
  }
  detail::incoming_call call_of(world::peer& from, std::uint32_t id = 5) {
    auto& function = detail::call_of<fn_t<decltype(&echo), &echo>, int>::message::entry();
    return {&world_.node(), &record(from), {}, id, &function};
  }
  /// Stays: no peer leaves here.
  detail::peer& record(world::peer& of) { return *world_.node().peer_of(of.number); }
  bool locked(world::peer& to) {
    base::biased_lock& sending = record(to).sending;
    if (!sending.try_lock()) return true;
    sending.unlock();
    return false;
  }
  /// Frames that the peer has got so far.
  static int received(world::peer& by) {
    int frames = 0;
    while (by.receive()) ++frames;
    return frames;
  }
  /// A peer that has read the greeting.
  world::peer& fresh_peer() {
    world::peer& one = world_.friendly();
    received(one);
    return one;
  }
  /// The next call to the peer takes the lock, and is the only frame that it gets.
  void expect_works(world::peer& with) {
    auto call = offload::async(with.number, fn<&echo>, 1);
    const auto asked = with.receive();
    ASSERT_TRUE(asked && asked->first.kind == to_byte(wire_kind::call));
    EXPECT_EQ(asked->second.size(), sizeof(int));
    EXPECT_FALSE(with.receive());
    with.send({0, asked->first.call, to_byte(wire_kind::reply)}, bytes{std::byte{7}, {}, {}, {}});
    EXPECT_EQ(call.get(), 7);
  }

  quiet quiet_;
  world world_;
  detail::engine_scope scope_{&world_.node()};
};

TEST_F(reservations, a_call_that_is_not_sent) {
  world::peer& to = fresh_peer();
  for (const std::size_t size : {std::size_t{0}, sizeof(int), std::size_t{2000}, long_size}) {
    detail::call_slot* slot = nullptr;
    {
      call_room call = begin(to, size);
      const reservation held(call);
      std::memset(call.data, 0xff, size);
      slot = call.slot;
      ASSERT_NE(slot, nullptr);
      EXPECT_EQ(slot->state, detail::slot_state::pending);
      EXPECT_TRUE(locked(to));
    }
    EXPECT_EQ(slot->state, detail::slot_state::free);
    EXPECT_FALSE(locked(to));
    EXPECT_TRUE(record(to).unsent.empty());
    ASSERT_NO_FATAL_FAILURE(expect_works(to)) << size;
  }
}

TEST_F(reservations, a_call_without_a_reply_that_is_not_sent) {
  world::peer& to = fresh_peer();
  {
    call_room ping = begin(to, sizeof(int), nullptr);
    const reservation held(ping);
    EXPECT_EQ(ping.slot, nullptr);
  }
  EXPECT_FALSE(locked(to));
  expect_works(to);
}

TEST_F(reservations, a_call_that_is_sent_stays_sent) {
  world::peer& to = fresh_peer();
  std::optional<offload::future<int>> result;
  {
    call_room call = begin(to);
    reservation held(call);
    std::memset(call.data, 0, sizeof(int));
    detail::finish_call(world_.node(), held.release());
    EXPECT_FALSE(locked(to));
    result = offload::detail::future_access::make<int>(call.slot);
  }
  const auto asked = to.receive();
  ASSERT_TRUE(asked);
  EXPECT_FALSE(result->test());
  to.send({0, asked->first.call, to_byte(wire_kind::reply)}, bytes{std::byte{3}, {}, {}, {}});
  EXPECT_EQ(result->get(), 3);
  expect_works(to);
}

TEST_F(reservations, a_long_call_that_is_sent_stays_sent) {
  world::peer& to = fresh_peer();
  call_room call = begin(to, long_size);
  std::memset(call.data, 0, long_size);
  detail::finish_call(world_.node(), reservation(call).release());
  EXPECT_FALSE(locked(to));
  auto result = offload::detail::future_access::make<int>(call.slot);
  std::size_t fragments = 0;
  std::uint32_t id = 0;
  while (!record(to).unsent.empty() || to.writer.receiver_armed() || fragments == 0) {
    while (const auto piece = to.receive()) {
      ASSERT_EQ(piece->first.kind, to_byte(wire_kind::fragment));
      id = piece->first.call;
      ++fragments;
    }
    world_.step();
  }
  EXPECT_GT(fragments, 1U);
  received(to);
  to.send({0, id, to_byte(wire_kind::reply)}, bytes{std::byte{3}, {}, {}, {}});
  EXPECT_EQ(result.get(), 3);
}

TEST_F(reservations, a_codec_throws_on_the_way_there) {
  world::peer& to = fresh_peer();
  EXPECT_THROW((void)offload::async(to.number, fn<&take>, stubborn()), std::domain_error);
  EXPECT_THROW(offload::ping(to.number, fn<&take>, stubborn()), std::domain_error);
  EXPECT_FALSE(locked(to));
  EXPECT_EQ(received(to), 0);
  expect_works(to);
}

TEST_F(reservations, a_codec_throws_on_the_way_back) {
  world::peer& caller = fresh_peer();
  caller.send({key_of("reservation_test::give"), 5, to_byte(wire_kind::call)}, bytes(4));
  world_.step();
  const auto answer = caller.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply_error));
  EXPECT_EQ(answer->first.call, 5U);
  EXPECT_EQ(received(caller), 0);
  EXPECT_FALSE(locked(caller));
  expect_works(caller);
}

TEST_F(reservations, a_reply_that_is_not_sent) {
  world::peer& to = fresh_peer();
  detail::incoming_call call = call_of(to);
  for (const std::size_t size : {sizeof(int), long_size}) {
    {
      reply_room reply = room_for_reply(call, size);
      const reservation held(reply);
      std::memset(reply.data, 0xff, size);
      EXPECT_TRUE(locked(to));
    }
    EXPECT_FALSE(locked(to));
    EXPECT_TRUE(record(to).unsent.empty());
    EXPECT_EQ(received(to), 0);
    ASSERT_NO_FATAL_FAILURE(expect_works(to)) << size;
  }
}

TEST_F(reservations, a_reply_that_is_sent_stays_sent) {
  world::peer& to = fresh_peer();
  detail::incoming_call call = call_of(to, 9);
  {
    reply_room reply = room_for_reply(call, 4);
    reservation held(reply);
    std::memset(reply.data, 1, 4);
    detail::finish_reply(call, held.release());
    EXPECT_FALSE(locked(to));
  }
  const auto answer = to.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first.kind, to_byte(wire_kind::reply));
  EXPECT_EQ(answer->first.call, 9U);
  EXPECT_EQ(answer->second, bytes(4, std::byte{1}));
  expect_works(to);
}

TEST_F(reservations, a_result_of_a_batch_that_is_not_sent) {
  world::peer& to = fresh_peer();
  auto* const collected = new detail::batch_reply(world_.node().replies, record(to), 1);
  collected->share();  // with its lock, which is not recursive
  detail::incoming_call call = call_of(to, 9);
  call.batch = collected;
  {
    reply_room dropped = room_for_reply(call, 100);
    const reservation held(dropped);
    std::memset(dropped.data, 0xff, 100);
  }
  {
    reply_room reply = room_for_reply(call, 4);
    reservation held(reply);
    std::memset(reply.data, 1, 4);
    detail::finish_reply(call, held.release());  // the last one: the answer leaves, and `collected` goes
  }
  const auto answer = to.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first.kind, to_byte(wire_kind::batch_reply));
  ASSERT_EQ(answer->second.size(), detail::result_head_bytes + 4);
  const detail::batch_result result(answer->second);
  EXPECT_EQ(result.call, 9U);
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(bytes(result.bytes.begin(), result.bytes.end()), bytes(4, std::byte{1}));
  expect_works(to);
}

}  // namespace reservation_test
