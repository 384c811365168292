// What is refused: calls for which there is no room, and those that would nest too deep.
#include "core/dispatcher_node.hpp"

namespace dispatcher_test {

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

}  // namespace dispatcher_test
