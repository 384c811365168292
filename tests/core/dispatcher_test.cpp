// Which calls begin when: their order, batches, and contexts.
#include "core/dispatcher.hpp"

#include "base/recorder_here.hpp"
#include "core/dispatcher_node.hpp"

namespace dispatcher_test {

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

TEST_F(dispatcher, functions_of_calls_that_wait_are_found) {
  const auto any = [](const msg::handler_entry&) { return true; };
  const auto none = [](const msg::handler_entry&) { return false; };
  EXPECT_FALSE(calls_.has_deferred_of(any));
  const int another_thread = 0;
  at(one).executor = &another_thread;
  arrive(one, 1);
  EXPECT_TRUE(calls_.has_deferred_of(any));
  EXPECT_FALSE(calls_.has_deferred_of(none));
  at(one).executor = nullptr;
  EXPECT_TRUE(calls_.run_deferred(nullptr));
  EXPECT_FALSE(calls_.has_deferred_of(any));
}

TEST_F(dispatcher, functions_of_the_rest_of_a_batch_are_found) {
  std::vector<bool> found;
  test::on_call = [&](std::uint32_t) { found.push_back(calls_.has_deferred_of([](const auto&) { return true; })); };
  calls_.take(at(one), frame_header::batch(2, false), batch_of({1, 2}));
  EXPECT_EQ(found, std::vector<bool>({true, false}));
  const stored_message waiting{&at(one), frame_header::batch(2, false), batch_of({1, 2})};
  EXPECT_TRUE(calls_.has_call_of(waiting, [](const auto&) { return true; }));
  EXPECT_FALSE(calls_.has_call_of(waiting, [](const auto&) { return false; }));
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

// ---- fork

TEST_F(dispatcher, a_child_after_fork_has_nothing_set_aside) {
  this_thread.only_receives = true;
  arrive(one, 1);
  this_thread.only_receives = false;
  calls_.detach_after_fork();
  EXPECT_FALSE(calls_.has_deferred());
  EXPECT_FALSE(calls_.run_deferred(nullptr));
}

// ---- the flight recorder

TEST_F(dispatcher, calls_are_recorded_while_they_run_and_afterwards) {
  const test::recorder_here recorder(self);
  base::recording::thread during;
  test::on_call = [&](std::uint32_t) { during = recorder.thread(); };
  arrive(one, 5);
  arrive_batch(two, {6, 7});
  ASSERT_EQ(during.open.size(), 1U);
  EXPECT_EQ(during.open[0].kind, base::recorded_kind::executing);
  EXPECT_EQ(during.open[0].peer, two);
  EXPECT_EQ(during.open[0].call, 7U);
  EXPECT_EQ(during.open[0].function, callable_key());
  const base::recording::thread after = recorder.thread();
  EXPECT_TRUE(after.open.empty());
  ASSERT_EQ(after.past.size(), 3U);
  EXPECT_EQ(after.past[2].kind, base::recorded_kind::executed);
  EXPECT_EQ(after.past[2].peer, one);
  EXPECT_EQ(after.past[2].call, 5U);
}

TEST_F(dispatcher, calls_that_observe_what_they_execute_are_not_recorded_themselves) {
  const test::recorder_here recorder(self);
  const msg::handler_entry& entry = msg::handler_registrar<test::callable>::entry();
  detail::dispatcher of_stages(node_, {nullptr,
                                       self,
                                       msg::handler_table::local(),
                                       peers_,
                                       idle_.waits,
                                       room_,
                                       node_.replies,
                                       continuations_,
                                       nullptr,
                                       {&entry, nullptr}});
  base::recording::thread during;
  test::on_call = [&](std::uint32_t id) {
    run_.push_back(id);
    during = recorder.thread();
  };
  of_stages.run_at_once(at(one), call(5), arguments_);
  EXPECT_EQ(run_, numbers({5}));
  EXPECT_EQ(of_stages.calls_executed(), 1U);
  EXPECT_TRUE(during.open.empty());
  EXPECT_TRUE(recorder.thread().past.empty());
}

}  // namespace dispatcher_test
