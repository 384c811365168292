// What a call is said to have done when its node is lost: never "not run" of one that may run after all.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "runtime/engine_info.hpp"

namespace engine_outcome_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::to_byte;
using detail::wire_kind;

int echo(int value) { return value; }
std::size_t length(const std::vector<int>& what) { return what.size(); }

/// Its reading runs what the test wants.
struct moody {
  int value = 0;
};
std::function<void(int)> on_read;
moody answer() { return {}; }

/// Its writing runs what the test wants.
struct stubborn {
  int value = 0;
};
std::function<void()> on_write;
void take(const stubborn&) {}

}  // namespace engine_outcome_test

template <>
struct ham::codec<engine_outcome_test::moody> {
  static std::size_t size(const engine_outcome_test::moody&) { return 4; }
  static void write(msg::writer& to, const engine_outcome_test::moody& what) { to.number(what.value); }
  static engine_outcome_test::moody read(msg::reader& from) {
    engine_outcome_test::moody result{from.number<int>()};
    engine_outcome_test::on_read(result.value);
    return result;
  }
};
template <>
struct ham::codec<engine_outcome_test::stubborn> {
  static std::size_t size(const engine_outcome_test::stubborn&) { return 4; }
  static void write(msg::writer& to, const engine_outcome_test::stubborn& what) {
    to.number(what.value);
    engine_outcome_test::on_write();
  }
  static engine_outcome_test::stubborn read(msg::reader& from) { return {from.number<int>()}; }
};

namespace engine_outcome_test {

bytes as_bytes_of(int value) {
  bytes result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

class engine_outcome : public testing::Test {
 protected:
  [[nodiscard]] world& here() { return world_; }
  [[nodiscard]] node_t number_of(const world::peer& one) const { return one.number; }

  template <class T>
  call_outcome outcome_of(offload::future<T>& one) {
    EXPECT_TRUE(one.test());
    try {
      (void)one.get();
    } catch (const node_failure& failure) {
      return failure.outcome();
    } catch (const deadline_exceeded& missed) {
      return missed.outcome();
    }
    ADD_FAILURE() << "it did not fail";
    return call_outcome::ran;
  }

  /// Three calls, of which the peer has taken the first.
  std::vector<offload::future<int>> three_calls(world::peer& to) {
    std::vector<offload::future<int>> calls;
    for (int i = 0; i < 3; ++i) calls.push_back(offload::async(number_of(to), fn<&echo>, i));
    EXPECT_TRUE(to.receive());
    return calls;
  }
  void expect_outcomes(std::vector<offload::future<int>>& calls, call_outcome taken, call_outcome not_taken) {
    here().step();
    EXPECT_EQ(outcome_of(calls[0]), taken);
    EXPECT_EQ(outcome_of(calls[1]), not_taken);
    EXPECT_EQ(outcome_of(calls[2]), not_taken);
  }

  void fill_queue(world::peer& to) {
    while (auto one = offload::try_async(number_of(to), fn<&echo>, 0)) one->detach();
  }

  quiet quiet_;
  world world_;
  detail::engine_scope scope_{&world_.node()};
};

TEST_F(engine_outcome, only_of_a_dead_process_is_it_known_what_will_not_run) {
  world::peer& dead = here().friendly();
  auto to_dead = three_calls(dead);
  here().node().events.on_died(number_of(dead), "it died");
  expect_outcomes(to_dead, call_outcome::may_have_run, call_outcome::not_run);

  world::peer& lost = here().friendly();
  auto to_lost = three_calls(lost);
  here().node().events.on_lost(number_of(lost), "it hung up");
  expect_outcomes(to_lost, call_outcome::may_have_run, call_outcome::may_have_run);

  world::peer& broken = here().friendly();
  auto to_broken = three_calls(broken);
  here().node().events.on_broken(number_of(broken), "it sent nonsense");
  expect_outcomes(to_broken, call_outcome::may_have_run, call_outcome::may_have_run);
}

TEST_F(engine_outcome, a_node_that_says_goodbye_may_still_execute) {
  world::peer& leaving = here().friendly();
  auto calls = three_calls(leaving);
  leaving.send({0, detail::no_reply, to_byte(wire_kind::goodbye)}, {});
  expect_outcomes(calls, call_outcome::may_have_run, call_outcome::may_have_run);
}

TEST_F(engine_outcome, so_may_one_that_this_node_parts_with_or_leaves) {
  world::peer& removed = here().friendly();
  world::peer& left = here().friendly();
  auto to_removed = three_calls(removed);
  auto to_left = three_calls(left);
  here().node().part_with(number_of(removed), "it was removed");
  expect_outcomes(to_removed, call_outcome::may_have_run, call_outcome::may_have_run);
  here().node().leave();
  expect_outcomes(to_left, call_outcome::may_have_run, call_outcome::may_have_run);
}

TEST_F(engine_outcome, a_result_that_cannot_be_read_says_nothing_of_the_calls_behind_it) {
  on_read = [](int) { throw std::runtime_error("I do not like it"); };
  world::peer& peer = here().friendly();
  auto bad = offload::async(number_of(peer), fn<&answer>);
  const auto asked = peer.receive();
  ASSERT_TRUE(asked);
  std::vector<offload::future<int>> behind;
  for (int i = 0; i < 10; ++i) behind.push_back(offload::async(number_of(peer), fn<&echo>, i));
  peer.send({0, asked->first.call, to_byte(wire_kind::reply)}, as_bytes_of(7));
  here().step();
  EXPECT_EQ(outcome_of(bad), call_outcome::ran);
  for (auto& one : behind) EXPECT_EQ(outcome_of(one), call_outcome::may_have_run);
}

TEST_F(engine_outcome, what_never_left_this_node_has_not_run) {
  world::peer& peer = here().friendly();
  const node_t node = number_of(peer);
  const std::vector<int> big(1 << 17);
  auto in_ring = offload::async(node, fn<&echo>, 1);
  auto in_outbox = offload::try_async(node, fn<&length>, big);  // more than the ring holds: the rest waits
  ASSERT_TRUE(in_outbox);
  EXPECT_FALSE(in_outbox->wait_for(1ms));
  here().node().events.on_lost(node, "it hung up");
  here().step();
  EXPECT_EQ(outcome_of(in_ring), call_outcome::may_have_run);
  EXPECT_EQ(outcome_of(*in_outbox), call_outcome::not_run) << "only pieces of it had left";
}

TEST_F(engine_outcome, nor_has_a_batch_that_waits_for_room) {
  world::peer& peer = here().friendly();
  const node_t node = number_of(peer);
  fill_queue(peer);
  std::vector<offload::future<std::size_t>> calls;
  offload::batch together(node);
  for (int i = 0; i < 3; ++i) calls.push_back(together.add(fn<&length>, std::vector<int>(1 << 15)));
  const std::uint64_t before = detail::statistics_of(here().node()).calls_sent;
  std::thread sender([&] { together.submit(); });
  while (detail::statistics_of(here().node()).calls_sent != before + 3) std::this_thread::yield();
  here().node().events.on_lost(node, "it hung up");
  sender.join();
  here().step();
  for (auto& one : calls) EXPECT_EQ(outcome_of(one), call_outcome::not_run);
}

TEST_F(engine_outcome, a_deadline_says_whether_the_call_was_sent) {
  world::peer& peer = here().friendly();
  const node_t node = number_of(peer);
  auto sent = offload::async(offload::within(node, 1ms), fn<&echo>, 1);
  std::this_thread::sleep_for(2ms);
  here().step();
  EXPECT_EQ(outcome_of(sent), call_outcome::may_have_run);

  fill_queue(peer);
  const std::vector<int> big(1 << 17);
  auto queued = offload::async(offload::within(node, 1ms), fn<&echo>, 1);
  EXPECT_EQ(outcome_of(queued), call_outcome::not_run);
  auto long_one = offload::async(offload::within(node, 1ms), fn<&length>, big);
  EXPECT_EQ(outcome_of(long_one), call_outcome::not_run);
}

TEST_F(engine_outcome, a_message_that_waits_at_its_deadline_is_not_sent_any_more) {
  world::peer& peer = here().friendly();
  const node_t node = number_of(peer);
  const std::vector<int> big(1 << 17);
  fill_queue(peer);
  auto waiting = offload::try_async(offload::within(node, 1ms), fn<&length>, big);
  ASSERT_TRUE(waiting);
  std::this_thread::sleep_for(2ms);
  while (!waiting->test()) here().step();
  EXPECT_EQ(outcome_of(*waiting), call_outcome::not_run);
  while (const auto arrived = peer.receive()) EXPECT_EQ(arrived->first.kind, to_byte(wire_kind::call));
  here().step();
  EXPECT_FALSE(peer.receive()) << "nothing of it follows";

  auto under_way = offload::try_async(offload::within(node, 1ms), fn<&length>, big);
  ASSERT_TRUE(under_way);
  std::this_thread::sleep_for(2ms);
  while (!under_way->test()) here().step();
  EXPECT_EQ(outcome_of(*under_way), call_outcome::may_have_run) << "pieces of it have left, and the others follow";
}

/// A reply for a call that is still being built, from a peer that guesses its id: the slot may be given back meanwhile.
TEST_F(engine_outcome, a_reply_that_comes_before_its_call_is_refused) {
  world::peer& hostile = here().friendly();
  std::thread receiver;
  on_write = [&] {
    hostile.send({0, 0, to_byte(wire_kind::reply)}, {});  // the first id of a fresh table
    receiver = std::thread([&] { here().step(); });
    while (hostile.rings.control(0).released.load() != hostile.writer.sent()) std::this_thread::yield();
    throw std::runtime_error("it cannot be written after all");
  };
  EXPECT_THROW((void)offload::async(number_of(hostile), fn<&take>, stubborn{}), std::runtime_error);
  receiver.join();
  EXPECT_FALSE(hostile.open());
}

/// A batch is withdrawn at its deadline while its node is lost, which gives the slots of its detached calls back; one
/// of them is another call's before the thread of the batch learns of it.
TEST_F(engine_outcome, a_withdrawn_batch_does_not_touch_slots_that_are_others_by_now) {
  world::peer& lost = here().friendly();
  world::peer& next = here().friendly();
  world::peer& other = here().friendly();
  auto first_gate = offload::async(number_of(lost), fn<&answer>);
  auto second_gate = offload::async(number_of(next), fn<&answer>);
  const auto first_asked = lost.receive();
  const auto second_asked = next.receive();
  ASSERT_TRUE(first_asked && second_asked);
  fill_queue(lost);

  const auto deadline = std::chrono::steady_clock::now() + 1s;
  offload::batch together(offload::within(offload::destination(number_of(lost)), 1s));
  for (int i = 0; i < 40; ++i) together.add(fn<&length>, std::vector<int>(1 << 10)).detach();
  const offload::statistics before = detail::statistics_of(here().node());
  const auto await = [&](auto done) {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!done(detail::statistics_of(here().node()))) {
      ASSERT_LT(std::chrono::steady_clock::now(), until);
      std::this_thread::sleep_for(1ms);
    }
  };
  std::thread sender;
  std::vector<offload::future<int>> innocent;
  on_read = [&](int which) {  // under the receiving lock, which the batch's thread waits for
    if (which == 1) {
      sender = std::thread([&] { together.submit(); });
      await([&](const offload::statistics& now) { return now.bytes_sent > before.bytes_sent; });
      std::this_thread::sleep_until(deadline + 10ms);
      await([&](const offload::statistics& now) { return now.calls_sent == before.calls_sent; });  // taken back
      next.send({0, second_asked->first.call, to_byte(wire_kind::reply)}, as_bytes_of(2));
    } else {
      std::thread([&] {
        const detail::engine_scope scope(&here().node());
        for (int i = 0; i < 40; ++i) innocent.push_back(offload::async(number_of(other), fn<&echo>, i));
      }).join();
    }
  };
  lost.send({0, first_asked->first.call, to_byte(wire_kind::reply)}, as_bytes_of(1));
  lost.send({0, detail::no_reply, to_byte(wire_kind::goodbye)}, {});
  while (!second_gate.test()) here().step(1);
  sender.join();
  ASSERT_EQ(innocent.size(), 40U);
  for (auto& one : innocent) EXPECT_FALSE(one.test());
  for (int i = 0; i < 40; ++i) {
    const auto asked = other.receive();
    ASSERT_TRUE(asked);
    other.send({0, asked->first.call, to_byte(wire_kind::reply)}, as_bytes_of(i));
  }
  here().step();
  for (int i = 0; i < 40; ++i) EXPECT_EQ(innocent[static_cast<std::size_t>(i)].get(), i);
}

}  // namespace engine_outcome_test
