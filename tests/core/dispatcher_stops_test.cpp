// Calls that can be stopped: when they begin, and what a stop does to those that wait.
#include "core/dispatcher_node.hpp"

#include <functional>

namespace dispatcher_test {

class stopping_node final : public called_node, public detail::stopped_node {
 public:
  std::optional<stored_message> withdraw_from_contexts(const peer& from, std::uint32_t call) override {
    for (auto one = queued.begin(); one != queued.end(); ++one) {
      if (one->from != &from || one->head.id() != call) continue;
      stored_message taken = std::move(*one);
      queued.erase(one);
      return taken;
    }
    return std::nullopt;
  }
  detail::stopped_node* stops() noexcept override { return this; }
  void receive_stops(bool all) noexcept override {
    EXPECT_TRUE(all) << "before a call begins";
    ++receives;
    if (on_receive) on_receive();
  }
  void stop_nested(const detail::nested_call&) noexcept override {}
  void stop_nested_locked(const detail::nested_call& call) noexcept override { nested.push_back(call.id); }
  void drop_settled(std::vector<detail::nested_call>&) noexcept override {}
  void count_stoppable(int more) noexcept override { running += more; }
  std::vector<std::uint32_t> nested;
  int running = 0;
  int receives = 0;
  std::function<void()> on_receive;
};

class dispatcher_stops : public dispatcher {
 protected:
  void SetUp() override {
    for (const node_t node : {one, two}) at(node).to = &endpoint_;
  }
  void TearDown() override {
    for (const node_t node : {one, two}) at(node).to = nullptr;
  }
  static frame_header stoppable(std::uint32_t id, std::uint8_t more = 0) {
    return frame_header::flagged_call(callable_key(), id, static_cast<std::uint8_t>(detail::stoppable | more));
  }
  void arrive_stoppable(node_t from, std::uint32_t id) { calls.take(at(from), stoppable(id), bytes(16)); }

  /// Has a word for the calls of a peer, or none.
  class with_word : public test::narrow_endpoint {
   public:
    transport::stop_word stop_word_of(std::uint32_t call) const noexcept override {
      return has_word ? transport::stop_word{&word, call} : transport::stop_word{};
    }
    void clear_stop_word(std::uint32_t) noexcept override {
      word = 0;
      if (on_clear) on_clear();
    }
    std::function<void()> on_clear;
    bool has_word = true;
    mutable std::atomic<std::uint64_t> word{0};
  } endpoint_;
  stopping_node stopping;
  detail::dispatcher calls{
      stopping,
      {nullptr, self, msg::handler_table::local(), peers_, idle_.waits, room_, stopping.replies, continuations_}};
  /// Those that were answered as not run.
  std::vector<std::uint32_t> not_run() {
    node_.replies.sent = std::exchange(stopping.replies.sent, {});
    return refused("it was stopped before it began");
  }
};

TEST_F(dispatcher_stops, with_a_word_that_says_nothing_a_call_begins_when_it_is_taken) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    ASSERT_NE(this_thread.innermost_stop(), nullptr);
    EXPECT_EQ(stopping.running, 1);
  };
  arrive_stoppable(one, 5);
  EXPECT_EQ(run_, numbers({5}));
  EXPECT_EQ(this_thread.innermost_stop(), nullptr);
  EXPECT_EQ(stopping.running, 0);
}

TEST_F(dispatcher_stops, a_call_whose_word_is_set_does_not_begin) {
  endpoint_.word = 5;
  arrive_stoppable(one, 5);
  EXPECT_EQ(run_, numbers());
  EXPECT_EQ(not_run(), numbers({5}));
}

TEST_F(dispatcher_stops, without_a_word_what_has_arrived_behind_a_call_is_received_before_it_begins) {
  endpoint_.has_word = false;
  stopping.on_receive = [this] {
    idle_.waits.lock();
    calls.cancel(at(one), 5);
    idle_.waits.unlock();
  };
  arrive_stoppable(one, 5);
  arrive_stoppable(one, 6);
  EXPECT_EQ(not_run(), numbers({5}));
  EXPECT_EQ(run_, numbers({6}));
  EXPECT_EQ(stopping.receives, 2);
}

TEST_F(dispatcher_stops, so_it_is_if_another_call_needs_the_word) {
  arrive_stoppable(one, 4);
  EXPECT_EQ(stopping.receives, 0);
  endpoint_.word = 5 + 64;
  arrive_stoppable(one, 5);
  EXPECT_EQ(stopping.receives, 1);
  EXPECT_EQ(run_, numbers({4, 5}));
}

TEST_F(dispatcher_stops, a_stop_takes_out_what_waits_of_that_peer_only) {
  this_thread.only_receives = true;
  arrive_stoppable(one, 5);
  arrive_stoppable(two, 5);
  calls.take(at(one), call(6), arguments_);
  calls.cancel(at(one), 5);
  calls.cancel(at(one), 6);
  calls.cancel(at(one), 99);
  this_thread.only_receives = false;
  EXPECT_EQ(not_run(), numbers({5, 6})) << "also a call that is not told while it runs";
  EXPECT_TRUE(calls.run_deferred(nullptr));
  EXPECT_EQ(run_, numbers({5}));
  EXPECT_FALSE(calls.has_deferred());
}

TEST_F(dispatcher_stops, a_stop_takes_out_what_waits_for_a_context) {
  stopping.open_contexts = {7};
  bytes payload(4 + 8 + 8);
  payload[0] = std::byte{7};
  calls.take(at(one), stoppable(5, detail::in_context), payload);
  ASSERT_EQ(stopping.queued.size(), 1U);
  calls.cancel(at(one), 5);
  EXPECT_TRUE(stopping.queued.empty());
  EXPECT_EQ(not_run(), numbers({5}));
  EXPECT_EQ(at(one).users, 0);
}

TEST_F(dispatcher_stops, a_stop_reaches_a_call_that_was_taken_for_a_context_and_has_not_begun) {
  stopping.open_contexts = {7};
  bytes payload(4 + 8 + 8);
  payload[0] = std::byte{7};
  for (const std::uint32_t id : {5, 6}) calls.take(at(one), stoppable(id, detail::in_context), payload);
  const std::vector<stored_message> taken = std::exchange(stopping.queued, {});  // by the context's thread
  calls.cancel(at(one), 5);
  idle_.waits.unlock();
  for (stored_message message : taken) calls.run_stored(message);
  idle_.waits.lock();
  EXPECT_EQ(not_run(), numbers({5}));
  EXPECT_EQ(run_, numbers({6}));
}

TEST_F(dispatcher_stops, a_stop_is_known_before_its_word_is_free_for_others) {
  stopping.open_contexts = {7};
  bytes payload(4 + 8 + 8);
  payload[0] = std::byte{7};
  calls.take(at(one), stoppable(5, detail::in_context), payload);
  const std::vector<stored_message> taken = std::exchange(stopping.queued, {});  // by the context's thread
  endpoint_.word = 5;
  int cleared = 0;
  endpoint_.on_clear = [&] {
    ++cleared;
    EXPECT_TRUE(taken.front().stop->requested_before_begin()) << "which asks now whether it may begin the call";
  };
  calls.cancel(at(one), 5);
  EXPECT_EQ(cleared, 1);
}

TEST_F(dispatcher_stops, a_stop_reaches_the_call_that_runs_and_what_it_has_made) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    detail::call_stop* const mine = this_thread.innermost_stop();
    ASSERT_NE(mine, nullptr);
    EXPECT_FALSE(mine->add_nested({77, 0, 1}));
    idle_.waits.lock();
    calls.cancel(at(one), id);
    idle_.waits.unlock();
    EXPECT_TRUE(mine->requested());
  };
  arrive_stoppable(one, 5);
  EXPECT_EQ(run_, numbers({5}));
  EXPECT_EQ(stopping.nested, numbers({77}));
}

TEST_F(dispatcher_stops, a_plain_call_inside_of_one_that_can_be_stopped_cannot) {
  test::on_call = [this](std::uint32_t id) {
    run_.push_back(id);
    if (id == 5) {
      idle_.waits.lock();
      calls.take(at(two), call(6), arguments_);
      idle_.waits.unlock();
    }
    EXPECT_EQ(this_thread.innermost_stop() != nullptr, id == 5) << id;
  };
  arrive_stoppable(one, 5);
  EXPECT_EQ(run_, numbers({5, 6}));
}

TEST_F(dispatcher_stops, what_breaks_the_format_is_refused) {
  EXPECT_THROW(calls.take(at(one), stoppable(5), bytes(7)), protocol_error);
  EXPECT_THROW(calls.cancel(at(one), detail::no_reply), protocol_error);
  at(one).hello_seen = false;
  EXPECT_THROW(calls.cancel(at(one), 5), protocol_error);
  EXPECT_EQ(run_, numbers());
}

}  // namespace dispatcher_test
