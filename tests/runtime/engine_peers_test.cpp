// Nodes that go, and whose places others take, in the middle of what is done with them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "core/narrow_endpoint.hpp"
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

/// A job whose nodes are hard to reach.
class slow_job final : public detail::job {
 public:
  bool knows = false;
  int connects = 0;
  std::int64_t greets_by_ns = base::never_ns;

  bool answers = true;

  std::uint32_t ask_for_nodes() override { return 1; }
  bool has_answered(std::uint32_t) const override { return answers; }
  bool knows_way(node_t) const override { return knows; }
  std::int64_t connect(node_t) override {
    ++connects;
    return greets_by_ns;
  }
  void on_welcome(node_t) override {}
  void on_notice(node_t, std::span<const std::byte>) override {}
  node_t add(const std::string&, std::int64_t) override { return -1; }
  node_t add(const offload::target_program&, std::int64_t) override { return -1; }
  node_t spawn(const std::string&, const std::string&, std::int64_t) override { return -1; }
  void remove(node_t, std::chrono::milliseconds) override {}
  void supervise(node_t, offload::supervision) override {}
  bool ends_with_connection(node_t) override { return false; }
  void on_output(node_t, offload::output_handler) override {}
};

/// One more node of the job, which is the engine's while this lives.
struct unconnected_node {
  explicit unconnected_node(detail::engine& at) : at_(at), number(static_cast<node_t>(at.peers.size())) {
    EXPECT_TRUE(at.peers.grow_to(static_cast<std::size_t>(number) + 1));
    at.owner = &job;
  }
  ~unconnected_node() { at_.owner = nullptr; }
  unconnected_node(const unconnected_node&) = delete;
  unconnected_node& operator=(const unconnected_node&) = delete;

  detail::engine& at_;
  slow_job job;
  const node_t number;
};

TEST_F(engine_peers, a_deadline_bounds_the_first_connection) {
  unconnected_node other(world_.node());
  slow_job& job = other.job;
  const node_t fresh = other.number;
  const auto soon = [&] { return offload::within(fresh, std::chrono::milliseconds(20)); };
  const auto outcome_of_call = [&] {
    auto sent = offload::async(soon(), fn<&echo>, 1);
    try {
      sent.get();
    } catch (const deadline_exceeded& late) {
      return late.outcome();
    }
    return call_outcome::ran;
  };
  EXPECT_EQ(outcome_of_call(), call_outcome::not_run);
  EXPECT_EQ(job.connects, 0) << "nobody knew how";
  const auto unknown = [&] {
    static_cast<void>(offload::alive(offload::within(fresh + 1, std::chrono::milliseconds(20))));
  };
  EXPECT_THROW(unknown(), call_error) << "the host knows no such node either";
  job.answers = false;
  EXPECT_THROW(unknown(), deadline_exceeded) << "and if it says nothing";
  job.knows = true;
  EXPECT_EQ(outcome_of_call(), call_outcome::not_run);
  EXPECT_EQ(job.connects, 1) << "another call begins where one has given up";
  EXPECT_THROW(offload::ping(soon(), fn<&echo>, 1), deadline_exceeded);
  EXPECT_THROW(static_cast<void>(offload::alive(soon())), deadline_exceeded);
  EXPECT_THROW(static_cast<void>(offload::get_node_descriptor(soon())), deadline_exceeded);
  EXPECT_THROW(static_cast<void>(offload::allocate<int>(soon(), 1)), deadline_exceeded);
  EXPECT_THROW(offload::context{soon()}, deadline_exceeded);
  const int value = 1;
  const auto there = offload::detail::buffer_ptr_access::make<int>(4096, 7, fresh);
  EXPECT_THROW(offload::put(soon(), &value, there, 1).get(), deadline_exceeded);
  offload::batch several(soon());
  EXPECT_THROW(static_cast<void>(several.add(fn<&echo>, 1)), deadline_exceeded);
  EXPECT_EQ(job.connects, 1) << "it is still awaited";
}

TEST_F(engine_peers, a_token_ends_the_wait_for_the_first_connection) {
  unconnected_node other(world_.node());
  slow_job& job = other.job;
  const node_t fresh = other.number;
  const auto expect_stopped = [&] {
    std::stop_source source;
    std::thread stops([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      source.request_stop();
    });
    auto sent = offload::async(offload::stoppable(fresh, source.get_token()), fn<&echo>, 1);
    stops.join();
    try {
      sent.get();
      ADD_FAILURE() << "it has run";
    } catch (const operation_cancelled& why) {
      EXPECT_EQ(why.outcome(), call_outcome::not_run);
    }
  };
  expect_stopped();
  EXPECT_EQ(job.connects, 0) << "nobody knew how";
  job.knows = true;
  expect_stopped();
  expect_stopped();
  EXPECT_EQ(job.connects, 1) << "it is still awaited";
  std::stop_source source;
  source.request_stop();
  const std::stop_token stopped = source.get_token();
  EXPECT_THROW(static_cast<void>(world_.node().peer_of(fresh, {0, &stopped})), operation_cancelled)
      << "as transfers do";
}

TEST_F(engine_peers, who_does_not_wait_begins_the_connection_all_the_same) {
  unconnected_node other(world_.node());
  other.job.knows = true;
  detail::wait_limit limit;
  limit.at_once = true;
  EXPECT_THROW(static_cast<void>(world_.node().peer_of(other.number, limit)), operation_cancelled);
  EXPECT_THROW(static_cast<void>(world_.node().peer_of(other.number, limit)), operation_cancelled);
  EXPECT_EQ(other.job.connects, 1);
}

/// Which the call has interrupted on its thread: nobody else could begin.
TEST_F(engine_peers, a_call_within_the_wait_for_the_way_to_a_node_connects_to_it) {
  unconnected_node other(world_.node());
  slow_job& job = other.job;
  world_.node().ways.add(other.number, world_.node().self());
  job.greets_by_ns = base::now_ns();  // too late, so that whoever waits for it learns that it is lost
  int runs = 0;
  within_call = [&] {
    ++runs;
    job.knows = true;
    EXPECT_THROW(offload::sync(offload::within(other.number, std::chrono::seconds(10)), fn<&echo>, 1), node_failure);
    EXPECT_EQ(job.connects, 1);
  };
  call(world_.friendly());
  EXPECT_THROW(offload::sync(other.number, fn<&echo>, 1), node_failure);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(job.connects, 1) << "once";
}

TEST_F(engine_peers, a_call_within_the_wait_for_the_node_between_connects_to_the_one_behind) {
  unconnected_node far(world_.node());
  slow_job& job = far.job;
  job.knows = true;
  world::peer& caller = world_.friendly();
  const node_t between = caller.number + 1;
  world_.node().ways.add(between, world_.node().self());
  world_.node().ways.add(far.number, between);
  int runs = 0;
  within_call = [&] {
    ++runs;
    EXPECT_EQ(job.connects, 1) << "to the one between";
    EXPECT_EQ(world_.friendly().number, between);
    job.greets_by_ns = base::now_ns();
    EXPECT_THROW(offload::sync(offload::within(far.number, std::chrono::seconds(10)), fn<&echo>, 1), node_failure);
    EXPECT_EQ(job.connects, 2);
  };
  call(caller);
  EXPECT_THROW(offload::sync(far.number, fn<&echo>, 1), node_failure);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(job.connects, 2);
}

/// Who began the connection has given up; those who wait on know until when it must come all the same.
TEST_F(engine_peers, a_connection_that_does_not_come_in_time_is_lost_for_all) {
  unconnected_node other(world_.node());
  slow_job& job = other.job;
  const node_t fresh = other.number;
  job.knows = true;
  job.greets_by_ns = base::now_ns() + 100'000'000;
  EXPECT_THROW(offload::sync(offload::within(fresh, std::chrono::milliseconds(10)), fn<&echo>, 1), deadline_exceeded);
  EXPECT_THROW(offload::sync(fresh, fn<&echo>, 1), node_failure);
  EXPECT_EQ(job.connects, 1);
  EXPECT_FALSE(offload::alive(fresh));
}

/// The node answers to it with its own farewell, which another thread may be quick to handle.
TEST(parting, is_for_the_reason_of_who_parts) {
  const quiet silent;
  detail::engine host(0, 2, std::make_unique<base::heap>(base::heap::make_file()));
  narrow_endpoint end;
  std::atomic<bool> over{false};
  std::thread other;
  end.allowed = 1;
  end.on_commit = [&] {
    EXPECT_EQ(end.heads.back().kind, to_byte(wire_kind::goodbye));
    host.events.on_lost(1, "it has left");
    other = std::thread([&] {
      host.poll_once();
      over = true;
    });
    while (host.events.pending() && !over) std::this_thread::yield();  // who handles it may wait for what is sent here
  };
  host.locked([&] {
    detail::peer& node = *host.peers.claim(1);
    node.max_payload = end.max_payload();
    node.to = &end;
    node.state.store(detail::peer_state::ready);
  });
  host.part_with(1, "it is not needed", detail::peer_end::left);
  ASSERT_EQ(end.heads.size(), 1U);
  other.join();
  host.locked([&] { EXPECT_EQ(host.peers[1].about.loss(), "it is not needed"); });
}

}  // namespace engine_peers_test
