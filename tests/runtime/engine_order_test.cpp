// Calls of one peer begin in the order in which it sent them, whatever else arrives with them.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"

namespace engine_order_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::to_byte;
using detail::wire_kind;

std::vector<int> begun;
int answered(int value) { return value; }
void begin(int number) { begun.push_back(number); }
int linger(int number);
int nest(int number);

/// Makes the functions above handlers of this program.
[[maybe_unused]] void never_called() {
  offload::sync(0, fn<&answered>, 1);
  offload::sync(0, fn<&begin>, 1);
  offload::sync(0, fn<&linger>, 1);
  offload::sync(0, fn<&nest>, 1);
}
void (*const keep)() = &never_called;

bytes pack(std::int32_t value) {
  bytes result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

/// One node, its peers played by the test. Each call of the node is answered when the test says so.
class engine_order : public testing::Test {
 protected:
  engine_order() {
    begun.clear();
    EXPECT_NE(keep, nullptr);
  }

  void call(world::peer& by, int number) {
    by.send({key_of("engine_order_test::begin"), detail::no_reply, to_byte(wire_kind::call)}, pack(number));
  }
  /// Answers the oldest call that the node has sent there.
  void answer(world::peer& by, int value) {
    const auto got = by.receive();
    ASSERT_TRUE(got && got->first.kind == to_byte(wire_kind::call));
    by.send({0, got->first.call, to_byte(wire_kind::reply)}, pack(value));
  }
  /// Waits for something that never comes.
  void wait_a_little(node_t peer) {
    auto never = offload::async(offload::within(peer, 5ms), fn<&answered>, 0);
    static_cast<void>(never.wait_for(1ms));  // true if this thread was held up until the deadline
    EXPECT_THROW(never.get(), deadline_exceeded);
  }

  world world_;
  const detail::engine_scope scope_{&world_.node()};
};

TEST_F(engine_order, a_continuation_that_waits_lets_no_later_call_overtake) {
  world::peer& peer = world_.friendly();
  const node_t number = peer.number;
  auto done = offload::async(number, fn<&answered>, 1).then([&](int) {
    begun.push_back(0);
    wait_a_little(number);
  });
  answer(peer, 1);
  for (int i = 1; i <= 10; ++i) call(peer, i);
  world_.step();
  EXPECT_EQ(begun, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_TRUE(done.test());
}

TEST_F(engine_order, nor_does_one_of_a_reply_behind_the_call) {
  world::peer& peer = world_.friendly();
  const node_t number = peer.number;
  auto done = offload::async(number, fn<&answered>, 1).then([&](int) {
    begun.push_back(0);
    wait_a_little(number);
  });
  for (int i = 1; i <= 3; ++i) call(peer, i);
  answer(peer, 1);
  for (int i = 4; i <= 6; ++i) call(peer, i);
  world_.step();
  EXPECT_EQ(begun, (std::vector<int>{1, 2, 3, 0, 4, 5, 6}));
  EXPECT_TRUE(done.test());
}

offload::task<int> wait_in_a_coroutine(node_t peer) {
  const int value = co_await offload::async(peer, fn<&answered>, 1);
  begun.push_back(0);
  static_cast<void>(offload::async(offload::within(peer, 5ms), fn<&answered>, 0).wait_for(1ms));
  co_return value;
}

TEST_F(engine_order, a_coroutine_that_waits_lets_no_later_call_overtake) {
  world::peer& one = world_.friendly();
  world::peer& two = world_.friendly();
  auto done = wait_in_a_coroutine(one.number);
  answer(one, 1);
  for (int i = 1; i <= 10; ++i) call(two, i);
  world_.step();
  std::vector<int> of_two;
  for (const int each : begun) {
    if (each != 0) of_two.push_back(each);
  }
  EXPECT_EQ(of_two, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_TRUE(done.test());
}

// ---- batches

int linger(int number) {
  begun.push_back(number);
  auto never = offload::async(offload::within(2, 5ms), fn<&answered>, 0);
  static_cast<void>(never.wait_for(1ms));
  never.detach();
  return number;
}

TEST_F(engine_order, no_later_call_overtakes_the_rest_of_a_batch) {
  world::peer& peer = world_.friendly();
  ASSERT_EQ(peer.number, 2);
  bytes batch;
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (const std::uint32_t word : {key_of("engine_order_test::linger"), 100 + i, 4U, i}) {
      const bytes part = pack(static_cast<std::int32_t>(word));
      batch.insert(batch.end(), part.begin(), part.end());
    }
  }
  peer.send({3, 0, to_byte(wire_kind::batch)}, batch);
  for (int i = 3; i <= 5; ++i) call(peer, i);
  world_.step();
  EXPECT_EQ(begun, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

// ---- the limit of nesting

constexpr int levels = 512;
world* nesting_world = nullptr;
unsigned continued_at = 0;
std::optional<offload::future<void>> continued;

/// Answers all calls that the node has sent to its first peer.
void answer_all() {
  world::peer& peer = nesting_world->at(2);
  while (const auto got = peer.receive()) {
    if (got->first.kind == to_byte(wire_kind::call))
      peer.send({0, got->first.call, to_byte(wire_kind::reply)}, pack(1));
  }
}

/// Each one waits inside the one before. Below the last one nobody gets an answer until a continuation has run that
/// settles there.
int nest(int number) {
  begun.push_back(number);
  if (number < levels) return offload::sync(2, fn<&answered>, number);
  EXPECT_EQ(detail::this_thread.depth, levels);
  nesting_world->step(20);
  world::peer& other = nesting_world->at(3);
  continued = offload::async(other.number, fn<&answered>, 0).then([](int) {
    continued_at = detail::this_thread.depth;
    answer_all();
  });
  const auto got = other.receive();
  EXPECT_TRUE(got);
  if (got) other.send({0, got->first.call, to_byte(wire_kind::reply)}, pack(1));
  nesting_world->step(20);
  EXPECT_EQ(continued_at, 0U) << "it has begun beyond the limit";
  return number;
}

TEST_F(engine_order, a_continuation_of_the_last_level_begins_as_soon_as_that_has_returned) {
  nesting_world = &world_;
  continued_at = 0;
  world::peer& one = world_.friendly();
  static_cast<void>(world_.friendly());
  for (int i = 1; i <= levels; ++i) {
    one.send({key_of("engine_order_test::nest"), detail::no_reply, to_byte(wire_kind::call)}, pack(i));
  }
  world_.step();
  EXPECT_EQ(begun.size(), static_cast<std::size_t>(levels));
  EXPECT_EQ(continued_at, static_cast<unsigned>(levels)) << "one level up, and its own";
  ASSERT_TRUE(continued);
  EXPECT_TRUE(continued->test());
  continued.reset();
}

}  // namespace engine_order_test
