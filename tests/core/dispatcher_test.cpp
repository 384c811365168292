// Which calls begin when: their order, their depth, batches, and what is refused. Without an engine: calls are taken as
// if they had just arrived, on one thread, which holds the receiving lock as the one that polls does.
#include "core/dispatcher.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/batch_records.hpp"
#include "core/callable.hpp"
#include "core/idle_node.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/recorded_replies.hpp"
#include "core/remote_exception.hpp"

namespace dispatcher_test {

using namespace ham;
using detail::call_slot;
using detail::frame_header;
using detail::peer;
using detail::slot_state;
using detail::stored_message;
using detail::this_thread;
using detail::thread_state;
using detail::wire_kind;
using test::batch_of;
using test::bytes;
using test::callable_key;

constexpr node_t self = 0;
constexpr node_t one = 1;
constexpr node_t two = 2;
constexpr std::int64_t second_ns = 1'000'000'000;

class called_node : public detail::called_node {
 public:
  test::recorded_replies replies;
  std::vector<std::uint32_t> open_contexts;
  std::vector<stored_message> queued;
  std::vector<std::string> lost_pings;

  bool queue_for_context(std::uint32_t context, stored_message message) override {
    if (std::find(open_contexts.begin(), open_contexts.end(), context) == open_contexts.end()) return false;
    queued.push_back(std::move(message));
    return true;
  }
  void lose_ping(frame_header, std::span<const std::byte>, std::span<const std::byte> error) noexcept override {
    lost_pings.push_back(detail::describe_exception(error));
  }
};

class dispatcher : public testing::Test {
 protected:
  dispatcher() {
    for (const node_t node : {self, one, two}) peers_.claim(node)->hello_seen = true;
    static_cast<void>(callable_key());
    test::on_call = [this](std::uint32_t id) { run_.push_back(id); };
    idle_.waits.lock();
  }
  ~dispatcher() override {
    idle_.waits.unlock();
    this_thread.depth = 0;
    test::on_call = nullptr;
  }

  peer& at(node_t node) { return peers_[node]; }
  static frame_header call(std::uint32_t id, bool in_context = false) {
    return frame_header::call(callable_key(), id, in_context);
  }
  /// A call arrives.
  void arrive(node_t from, std::uint32_t id) {
    if (calls_.begins_at_once(at(from), call(id)))
      calls_.run_at_once(at(from), call(id), arguments_);
    else
      calls_.take(at(from), call(id), arguments_);
  }
  void arrive_batch(node_t from, std::initializer_list<std::uint32_t> ids) {
    calls_.take(at(from), frame_header::batch(static_cast<std::uint32_t>(ids.size()), false), batch_of(ids));
  }
  /// As a call that waits does, which does not have the lock.
  bool wait_a_little(const call_slot* awaited = nullptr) {
    idle_.waits.lock();
    const bool begun = calls_.run_deferred(awaited);
    idle_.waits.unlock();
    return begun;
  }
  void arrive_meanwhile(node_t from, std::uint32_t id) {
    idle_.waits.lock();
    arrive(from, id);
    idle_.waits.unlock();
  }
  /// A call of this node to `node` is pending.
  static void wait_for(call_slot& slot, node_t node) {
    slot.state = slot_state::pending;
    slot.function = &msg::handler_registrar<test::callable>::entry();
    slot.node = node;
  }
  /// At a time, as a thread that has nothing to do.
  void at_limit(const call_slot* awaited, std::int64_t now_ns) {
    idle_.waits.unlock();
    calls_.wait_at_limit(awaited, now_ns, silent_since_);
    idle_.waits.lock();
  }
  /// Ids of calls that were answered with an error, each of which says `what`.
  std::vector<std::uint32_t> refused(const std::string& what) {
    std::vector<std::uint32_t> ids;
    const auto expect = [&](std::span<const std::byte> error) {
      EXPECT_NE(detail::describe_exception(error).find(what), std::string::npos) << detail::describe_exception(error);
    };
    for (const auto& reply : std::exchange(node_.replies.sent, {})) {
      if (reply.head.kind() == wire_kind::flow) continue;
      if (reply.head.kind() != wire_kind::batch_reply) {
        EXPECT_EQ(reply.head.kind(), wire_kind::reply_error);
        expect(reply.bytes);
        ids.push_back(reply.head.id());
        continue;
      }
      std::span<const std::byte> rest = reply.bytes;
      while (!rest.empty()) {
        const detail::batch_result next(rest);
        if (next.failed) {
          expect(next.bytes);
          ids.push_back(next.call);
        }
        rest = rest.subspan(next.size());
      }
    }
    return ids;
  }
  using numbers = std::vector<std::uint32_t>;

  const bytes arguments_ = bytes(8);
  std::vector<std::uint32_t> run_;
  std::int64_t silent_since_ = 0;
  test::idle_node idle_;
  detail::peer_table peers_{3};
  detail::self_endpoint own_{self, [] {}};
  called_node node_;
  detail::ping_flow room_{peers_, own_, node_.replies};
  detail::ready_queue due_;
  detail::continuation_runner continuations_{nullptr, due_};
  detail::dispatcher calls_{
      node_, {nullptr, self, msg::handler_table::local(), peers_, idle_.waits, room_, node_.replies, continuations_}};
};

// ---- what begins at once

TEST_F(dispatcher, a_call_begins_when_it_is_taken) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    EXPECT_TRUE(calls_.executing());
    EXPECT_EQ(this_thread.depth, 1U);
    ASSERT_TRUE(idle_.waits.try_lock()) << "others receive meanwhile";
    idle_.waits.unlock();
  };
  EXPECT_TRUE(calls_.begins_at_once(at(one), call(5)));
  arrive(one, 5);
  calls_.take(at(one), call(6), arguments_);
  EXPECT_EQ(run_, numbers({5, 6}));
  EXPECT_EQ(calls_.calls_executed(), 2U);
  EXPECT_FALSE(calls_.executing());
  EXPECT_EQ(this_thread.depth, 0U);
  EXPECT_TRUE(at(one).unused());
}

TEST_F(dispatcher, only_plain_calls_of_who_has_greeted_begin_at_once) {
  EXPECT_FALSE(calls_.begins_at_once(at(one), call(1, true)));
  EXPECT_FALSE(calls_.begins_at_once(at(one), frame_header::batch(1, false)));
  at(one).hello_seen = false;
  EXPECT_FALSE(calls_.begins_at_once(at(one), call(1)));
  EXPECT_THROW(calls_.take(at(one), call(1), arguments_), protocol_error);
}

TEST_F(dispatcher, what_is_not_well_formed_runs_nothing) {
  EXPECT_THROW(calls_.run_at_once(at(one), frame_header::call(msg::invalid_key, 1, false), {}), protocol_error);
  EXPECT_THROW(calls_.take(at(one), frame_header::batch(3, false), batch_of({1, 2})), protocol_error);
  EXPECT_EQ(run_, numbers());
  EXPECT_TRUE(node_.replies.sent.empty());
  ASSERT_FALSE(idle_.waits.try_lock()) << "who receives still has the lock";
}

// ---- order

TEST_F(dispatcher, calls_wait_for_the_thread_that_executes_their_peers_calls) {
  const int another_thread = 0;
  at(one).executor = &another_thread;
  for (const std::uint32_t id : {1, 2, 3}) arrive(one, id);
  arrive(two, 4);
  EXPECT_EQ(run_, numbers({4})) << "calls of others do not";
  EXPECT_TRUE(calls_.has_deferred());
  EXPECT_FALSE(calls_.has_runnable());
  EXPECT_FALSE(calls_.run_deferred(nullptr));
  EXPECT_FALSE(at(one).unused());

  at(one).executor = nullptr;
  EXPECT_TRUE(calls_.has_runnable());
  arrive(one, 5);
  EXPECT_EQ(run_, numbers({4})) << "nothing overtakes what waits";
  EXPECT_TRUE(calls_.run_deferred(nullptr));
  EXPECT_EQ(run_, numbers({4, 1, 2, 3, 5}));
  EXPECT_FALSE(calls_.has_deferred());
  EXPECT_TRUE(at(one).unused());
}

TEST_F(dispatcher, a_thread_that_only_receives_begins_nothing) {
  this_thread.only_receives = true;
  arrive(one, 1);
  EXPECT_FALSE(calls_.has_runnable());
  this_thread.only_receives = false;
  EXPECT_EQ(run_, numbers());
  EXPECT_TRUE(calls_.run_deferred(nullptr));
  EXPECT_EQ(run_, numbers({1}));
}

TEST_F(dispatcher, a_call_that_waits_executes_what_arrives) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    if (id == 1) arrive_meanwhile(one, 2);
    run_.push_back(10 * id);
  };
  arrive(one, 1);
  EXPECT_EQ(run_, numbers({1, 2, 20, 10}));
}

TEST_F(dispatcher, what_is_set_aside_begins_in_bounded_portions) {
  this_thread.only_receives = true;
  constexpr std::uint32_t count = 100;
  for (std::uint32_t id = 0; id < count; ++id) arrive(one, id);
  this_thread.only_receives = false;
  EXPECT_TRUE(calls_.run_deferred(nullptr));
  EXPECT_LT(run_.size(), count) << "others want the lock as well";
  while (calls_.run_deferred(nullptr)) {
  }
  ASSERT_EQ(run_.size(), count);
  for (std::uint32_t id = 0; id < count; ++id) EXPECT_EQ(run_[id], id);
}

TEST_F(dispatcher, nothing_more_begins_once_the_awaited_call_has_settled) {
  call_slot awaited;
  awaited.state = slot_state::pending;
  test::on_call = [&](std::uint32_t id) {
    run_.push_back(id);
    if (id == 2) awaited.state = slot_state::value;
  };
  this_thread.only_receives = true;
  for (const std::uint32_t id : {1, 2, 3}) arrive(one, id);
  this_thread.only_receives = false;
  EXPECT_TRUE(calls_.run_deferred(&awaited));
  EXPECT_EQ(run_, numbers({1, 2}));
}

TEST_F(dispatcher, nothing_more_begins_before_a_continuation_that_is_due) {
  detail::continuation due{[](detail::continuation*) {}};
  this_thread.only_receives = true;
  arrive(one, 1);
  this_thread.only_receives = false;
  due_.push(&due);
  EXPECT_FALSE(calls_.run_deferred(nullptr));
  EXPECT_EQ(run_, numbers());
  EXPECT_TRUE(continuations_.run());
  EXPECT_TRUE(calls_.run_deferred(nullptr));
  EXPECT_EQ(run_, numbers({1}));
}

// ---- batches

TEST_F(dispatcher, calls_of_a_batch_run_in_order_and_are_answered_together) {
  arrive_batch(one, {7, 5, 6});
  EXPECT_EQ(run_, numbers({7, 5, 6}));
  EXPECT_EQ(calls_.calls_executed(), 3U);
  EXPECT_FALSE(calls_.has_deferred());
  ASSERT_EQ(node_.replies.sent.size(), 1U);
  EXPECT_EQ(node_.replies.sent[0].to, one);
  EXPECT_EQ(node_.replies.sent[0].head.kind(), wire_kind::batch_reply);
  EXPECT_EQ(node_.replies.sent[0].bytes.size(), 3 * detail::result_head_bytes);
}

TEST_F(dispatcher, a_call_of_a_batch_that_waits_begins_the_next_one_before_what_came_later) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    if (id == 1) {
      arrive_meanwhile(one, 9);
      EXPECT_TRUE(wait_a_little());
    }
    run_.push_back(10 * id);
  };
  arrive_batch(one, {1, 2, 3});
  EXPECT_EQ(run_, numbers({1, 2, 20, 3, 30, 9, 90, 10}));
  EXPECT_FALSE(calls_.has_deferred());
  EXPECT_TRUE(at(one).unused());
}

TEST_F(dispatcher, a_batch_within_a_batch_comes_first) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    if (id != 2) return;
    idle_.waits.lock();
    arrive_batch(one, {11, 12});
    idle_.waits.unlock();
  };
  arrive_batch(one, {1, 2});
  EXPECT_EQ(run_, numbers({1, 2, 11, 12}));
  EXPECT_EQ(node_.replies.sent.size(), 2U);
}

// ---- contexts

TEST_F(dispatcher, calls_for_a_context_are_run_by_its_thread) {
  node_.open_contexts = {3};
  const bytes payload = {std::byte{3}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{42}};
  calls_.take(at(one), call(1, true), payload);
  EXPECT_EQ(run_, numbers());
  ASSERT_EQ(node_.queued.size(), 1U);
  EXPECT_FALSE(at(one).unused());
  calls_.run_stored(node_.queued[0]);
  EXPECT_EQ(run_, numbers({1}));
  EXPECT_TRUE(at(one).unused());
}

TEST_F(dispatcher, a_call_for_a_context_that_is_not_open_is_refused_and_takes_no_room) {
  room_.limit(4);
  calls_.take(at(one), call(1, true), bytes(4));
  EXPECT_EQ(refused("context 0 is not open on node 0"), numbers({1}));
  EXPECT_TRUE(at(one).unused());
  EXPECT_TRUE(room_.take(4));
}

TEST_F(dispatcher, a_batch_for_a_context_runs_there_as_a_whole) {
  node_.open_contexts = {0};
  bytes payload(4);
  const bytes records = batch_of({1, 2});
  payload.insert(payload.end(), records.begin(), records.end());
  calls_.take(at(one), frame_header::batch(2, true), payload);
  calls_.run_stored(node_.queued.at(0));
  EXPECT_EQ(run_, numbers({1, 2}));
  EXPECT_EQ(node_.replies.sent.size(), 1U);
}

// ---- room

TEST_F(dispatcher, what_finds_no_room_is_refused) {
  room_.limit(arguments_.size());
  this_thread.only_receives = true;
  arrive(one, 1);
  arrive(one, 2);
  arrive_batch(two, {3, 4});
  arrive(two, detail::no_reply);
  this_thread.only_receives = false;
  EXPECT_EQ(refused("too many calls wait on node 0 (at most 8 bytes of them may"), numbers({2, 3, 4}));
  ASSERT_EQ(node_.lost_pings.size(), 1U);
  EXPECT_NE(node_.lost_pings[0].find("too many calls wait"), std::string::npos);
  EXPECT_TRUE(calls_.run_deferred(nullptr));
  EXPECT_EQ(run_, numbers({1}));
  EXPECT_TRUE(room_.take(arguments_.size())) << "it has given its room back";
}

TEST_F(dispatcher, who_fills_the_node_with_pings_is_told) {
  room_.limit(3 * arguments_.size());
  this_thread.only_receives = true;
  for (int i = 0; i < 3; ++i) arrive(one, detail::no_reply);
  this_thread.only_receives = false;
  ASSERT_EQ(node_.replies.sent.size(), 1U);
  EXPECT_EQ(node_.replies.sent[0].head.kind(), wire_kind::flow);
}

TEST_F(dispatcher, calls_that_run_elsewhere_take_room_and_keep_their_peer) {
  room_.limit(arguments_.size());
  detail::incoming_call pooled{nullptr, &at(one), arguments_, 1};
  calls_.begin_elsewhere(pooled);
  EXPECT_TRUE(calls_.runs_elsewhere());
  EXPECT_FALSE(at(one).unused());
  detail::incoming_call more{nullptr, &at(one), arguments_, 2};
  EXPECT_THROW(calls_.begin_elsewhere(more), call_error);
  calls_.end_elsewhere(pooled);
  EXPECT_FALSE(calls_.runs_elsewhere());
  EXPECT_TRUE(at(one).unused());
}

// ---- the limit of nesting

TEST_F(dispatcher, calls_nest_up_to_the_limit) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    arrive_meanwhile(one, id + 1);
  };
  arrive(one, 1);
  EXPECT_EQ(run_.size(), thread_state::max_depth);
  EXPECT_TRUE(calls_.has_deferred());
  test::on_call = [this](std::uint32_t id) { run_.push_back(id); };
  EXPECT_TRUE(calls_.run_deferred(nullptr)) << "the stack has unwound";
  EXPECT_EQ(run_.size(), thread_state::max_depth + 1);
}

TEST_F(dispatcher, at_the_limit_nothing_begins) {
  this_thread.depth = thread_state::max_depth;
  EXPECT_FALSE(calls_.begins_at_once(at(one), call(1)));
  arrive(one, 1);
  EXPECT_FALSE(calls_.has_runnable());
  EXPECT_FALSE(calls_.run_deferred(nullptr));
  EXPECT_EQ(run_, numbers());
}

TEST_F(dispatcher, at_the_limit_the_newest_are_refused_after_a_silence) {
  this_thread.depth = thread_state::max_depth;
  for (const std::uint32_t id : {1, 2}) arrive(one, id);
  arrive(two, 3);
  at_limit(nullptr, second_ns);
  at_limit(nullptr, 2 * second_ns - 1);
  EXPECT_EQ(refused(""), numbers());
  at_limit(nullptr, 2 * second_ns);
  EXPECT_EQ(refused("calls are nested more than 512 deep on node 0"), numbers({2, 3}));
  at_limit(nullptr, 2 * second_ns + 2'000'000);
  EXPECT_EQ(refused("nested"), numbers({1})) << "the next one soon after";
  EXPECT_FALSE(calls_.has_deferred());
}

TEST_F(dispatcher, the_rest_of_a_batch_is_refused_from_its_front) {
  test::on_call = [&](std::uint32_t id) {
    run_.push_back(id);
    if (id != 1) return;
    this_thread.depth += thread_state::max_depth;
    calls_.wait_at_limit(nullptr, second_ns, silent_since_);
    calls_.wait_at_limit(nullptr, 2 * second_ns, silent_since_);
    this_thread.depth -= thread_state::max_depth;
  };
  arrive_batch(one, {1, 2, 3});
  EXPECT_EQ(run_, numbers({1, 3}));
  EXPECT_EQ(refused("nested"), numbers({2}));
  EXPECT_FALSE(calls_.has_deferred());
}

TEST_F(dispatcher, nothing_is_refused_before_the_peer_has_seen_the_call) {
  test::narrow_endpoint to;
  at(one).to = &to;
  call_slot awaited;
  wait_for(awaited, one);
  awaited.position = 10;
  this_thread.depth = thread_state::max_depth;
  arrive(two, 1);
  at_limit(&awaited, second_ns);
  to.consumed_so_far = 10;
  at_limit(&awaited, 3 * second_ns);
  EXPECT_EQ(refused(""), numbers()) << "the peer is busy";
  to.consumed_so_far = 11;
  at_limit(&awaited, 4 * second_ns);
  EXPECT_EQ(refused("nested"), numbers({1}));
}

TEST_F(dispatcher, a_call_of_the_node_to_itself_that_waits_for_itself_is_refused_at_once) {
  call_slot awaited;
  wait_for(awaited, self);
  awaited.id = 2;
  this_thread.depth = thread_state::max_depth;
  for (const std::uint32_t id : {1, 2, 3}) arrive(self, id);
  at_limit(&awaited, second_ns);
  EXPECT_EQ(refused("calls are nested more than 512 deep"), numbers({2}));
  at_limit(&awaited, second_ns + 1);
  EXPECT_EQ(refused(""), numbers()) << "the others are not what it waits for";
}

TEST_F(dispatcher, continuations_begin_beyond_the_limit_because_they_cannot_be_refused) {
  static int begun;
  begun = 0;
  detail::continuation due{[](detail::continuation*) { ++begun; }};
  due_.push(&due);
  this_thread.depth = thread_state::max_depth;
  at_limit(nullptr, second_ns);
  EXPECT_EQ(begun, 0);
  at_limit(nullptr, second_ns + 1'000'000);
  EXPECT_EQ(begun, 1);
}

TEST_F(dispatcher, continuations_far_beyond_the_limit_wait_longer) {
  static int begun;
  begun = 0;
  detail::continuation due{[](detail::continuation*) { ++begun; }};
  due_.push(&due);
  call_slot awaited;
  awaited.function = &msg::handler_registrar<test::callable>::entry();
  awaited.node = one;
  this_thread.depth = 2 * thread_state::max_depth;
  at_limit(&awaited, second_ns);
  at_limit(&awaited, 2 * second_ns - 1);
  EXPECT_EQ(begun, 0);
  at_limit(&awaited, 2 * second_ns);
  EXPECT_EQ(begun, 1);
}

TEST_F(dispatcher, a_child_after_fork_has_nothing_set_aside) {
  this_thread.only_receives = true;
  arrive(one, 1);
  this_thread.only_receives = false;
  calls_.detach_after_fork();
  EXPECT_FALSE(calls_.has_deferred());
  EXPECT_FALSE(calls_.run_deferred(nullptr));
}

}  // namespace dispatcher_test
