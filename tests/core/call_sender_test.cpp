// How calls leave a node: room, back-pressure, deadlines, batches. Without an engine: the other node is an endpoint
// that takes what the test allows.
#include "core/call_sender.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/recorder_here.hpp"
#include "core/batch_records.hpp"
#include "core/callable.hpp"
#include "core/idle_node.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/outbox_message.hpp"
#include "core/recorded_replies.hpp"
#include "core/replacements.hpp"

namespace call_sender_test {

using namespace ham;
using detail::call_room;
using detail::call_slot;
using detail::frame_header;
using detail::peer;
using detail::peer_state;
using detail::slot_state;
using detail::when_full;
using detail::wire_kind;
using offload::destination;

constexpr node_t self = 0;
constexpr node_t other = 1;
constexpr std::int64_t second_ns = 1'000'000'000;

class sending_node : public detail::sending_node {
 public:
  explicit sending_node(detail::peer_table& peers, test::idle_node& idle) : peers_(peers), idle_(idle) {}
  std::function<void()> on_progress = [] {};
  std::function<void(node_t)> on_make_ready = [](node_t) {};
  std::vector<std::string> broken;
  std::function<bool()> on_break = [] { return false; };
  int notices = 0, progresses = 0, long_messages = 0;

  bool late = false;
  detail::peer_hold make_ready(node_t node, std::int64_t deadline_ns) override {
    on_make_ready(node);
    return late && deadline_ns != 0 ? detail::peer_hold() : peers_.hold(node);
  }
  node_t process_for(const detail::call_place& to) override {
    return replacement < 0 ? detail::without_exact_bit(to.node) : replacement;
  }
  node_t replacement = -1;  ///< of whoever is called and not ready
  void take_notice() override { ++notices; }
  bool progress() override {
    ++progresses;
    on_progress();
    return true;
  }
  void finish_progress() override { idle_.waits.unlock(); }
  bool oversubscribed() const noexcept override { return false; }
  void used_long_memory() noexcept override { ++long_messages; }
  bool break_peer(peer&, const base::fault_rule& by) override {
    broken.push_back(by.text);
    return on_break();
  }
  std::exception_ptr loss_of(peer& who, const msg::handler_entry*, std::uint32_t,
                             call_outcome outcome) noexcept override {
    node_failure::details what;
    what.node = who.node;
    what.outcome = outcome;
    return std::make_exception_ptr(node_failure("lost", what));
  }

 private:
  detail::peer_table& peers_;
  test::idle_node& idle_;
};

void decode_nothing(call_slot&, msg::reader&) {}

class call_sender : public testing::Test {
 protected:
  call_sender() {
    static_cast<void>(test::callable_key());
    for (const node_t node : {self, other}) peers_.claim(node)->hello_seen = true;
    connect(to_);
  }
  ~call_sender() override {
    for (call_slot* const slot : claimed_) {
      if (slot->state == slot_state::pending) calls_.fail_unsent(*slot, std::make_exception_ptr(call_error("over")));
      if (slot->state == slot_state::failed) detail::slot_error(*slot).~exception_ptr();
      calls_.release(*slot);
    }
  }
  void connect(test::narrow_endpoint& with) {
    peer& who = peers_[other];
    who.to = &with;
    who.max_payload = with.max_payload();
    who.state = peer_state::ready;
  }
  static msg::handler_entry& function() { return msg::handler_registrar<test::callable>::entry(); }

  /// Begins and finishes a call of `size` bytes. False: it was not sent.
  bool send(std::size_t size, const destination& to = other, when_full policy = when_full::wait) {
    call_room out;
    const bool room = sender_.begin(to, function(), size, &decode_nothing, policy, out);
    if (out.slot != nullptr) claimed_.push_back(out.slot);
    if (!room) return false;
    std::fill_n(out.data, size, std::byte{7});
    return sender_.finish(out);
  }
  bool ping(std::size_t size, const destination& to = other) {
    call_room out;
    if (!sender_.begin(to, function(), size, nullptr, when_full::wait, out)) return false;
    return sender_.finish(out);
  }
  frame_header sent(std::size_t which) { return frame_header::decode(to_.heads.at(which)); }
  call_slot& last() { return *claimed_.back(); }
  /// The error of the last call.
  template <class Error>
  std::string error() {
    EXPECT_EQ(last().state, slot_state::failed);
    try {
      std::rethrow_exception(detail::slot_error(last()));
    } catch (const Error& why) {
      return why.what();
    }
    return {};
  }
  static destination soon(std::int64_t in_ns) {
    destination to(other);
    to.deadline_ns = base::now_ns() + in_ns;
    return to;
  }

  test::idle_node idle_;
  test::narrow_endpoint to_;
  detail::peer_table peers_{2};
  detail::self_endpoint own_{self, [] {}};
  test::recorded_replies replies_;
  detail::ping_flow room_{peers_, own_, replies_};
  detail::call_table calls_{nullptr, idle_.waits};
  detail::peer_events events_{peers_, idle_.waits};
  sending_node node_{peers_, idle_};
  detail::call_sender sender_{node_, {self, msg::handler_table::local(), peers_, idle_.waits, calls_, room_, events_}};
  std::vector<call_slot*> claimed_;
};

TEST_F(call_sender, a_small_call_is_one_frame_with_its_key_and_its_id) {
  to_.allowed = 1;
  ASSERT_TRUE(send(8));
  ASSERT_EQ(to_.heads.size(), 1U);
  EXPECT_EQ(sent(0).kind(), wire_kind::call);
  EXPECT_EQ(sent(0).key(), test::callable_key());
  EXPECT_EQ(sent(0).id(), last().id);
  EXPECT_EQ(to_.payloads[0], test::bytes(8, std::byte{7}));
  EXPECT_TRUE(last().reply_due);
  EXPECT_EQ(last().node, other);
  EXPECT_EQ(node_.progresses, 0) << "there was room";
  EXPECT_EQ(peers_[other].calls_sent, 1U);
  EXPECT_TRUE(peers_[other].sending.try_lock()) << "the lock was given back";
  peers_[other].sending.unlock();
}

TEST_F(call_sender, a_call_of_a_context_begins_with_its_number) {
  to_.allowed = 1;
  ASSERT_TRUE(send(4, destination(other, 9)));
  EXPECT_TRUE(sent(0).in_context());
  ASSERT_EQ(to_.payloads[0].size(), 8U);
  EXPECT_EQ(to_.payloads[0][0], std::byte{9});
  EXPECT_EQ(to_.payloads[0][4], std::byte{7});
}

TEST_F(call_sender, without_room_it_executes_what_arrives_until_there_is_some) {
  node_.on_progress = [this] { to_.allowed = node_.progresses == 3 ? 1 : 0; };
  ASSERT_TRUE(send(8));
  EXPECT_EQ(node_.progresses, 3);
  EXPECT_EQ(to_.heads.size(), 1U);
}

TEST_F(call_sender, without_room_a_call_that_does_not_wait_is_not_sent) {
  EXPECT_FALSE(send(8, other, when_full::refuse));
  EXPECT_TRUE(claimed_.empty());
  EXPECT_EQ(node_.progresses, 0);
}

TEST_F(call_sender, a_deadline_that_passes_before_there_is_room_fails_the_call_as_not_run) {
  EXPECT_FALSE(send(8, soon(1'000'000)));
  EXPECT_NE(error<deadline_exceeded>().find("has not run"), std::string::npos);
  EXPECT_TRUE(to_.heads.empty());
}

TEST_F(call_sender, the_deadline_of_a_call_that_has_left_is_kept) {
  to_.allowed = 1;
  const destination to = soon(second_ns);
  ASSERT_TRUE(send(8, to));
  EXPECT_EQ(calls_.next_deadline_ns(), to.deadline_ns);
}

TEST_F(call_sender, a_long_call_goes_in_fragments) {
  to_.allowed = 100;
  ASSERT_TRUE(send(500));
  EXPECT_GT(to_.heads.size(), 500U / 64);
  for (std::size_t i = 0; i < to_.heads.size(); ++i) EXPECT_EQ(sent(i).kind(), wire_kind::fragment);
  EXPECT_EQ(node_.long_messages, 1);
  EXPECT_TRUE(peers_[other].unsent.empty());
}

TEST_F(call_sender, the_sender_of_a_long_call_waits_until_it_has_gone) {
  node_.on_progress = [this] { to_.allowed = 2; };
  ASSERT_TRUE(send(500));
  EXPECT_GE(node_.progresses, 4);
  EXPECT_TRUE(peers_[other].unsent.empty());
}

TEST_F(call_sender, a_long_call_that_shall_not_wait_stays_in_the_outbox) {
  ASSERT_TRUE(send(500, other, when_full::refuse));
  EXPECT_EQ(node_.progresses, 0);
  EXPECT_FALSE(peers_[other].unsent.empty());
  to_.allowed = 100;
  EXPECT_TRUE(peers_[other].unsent.flush(to_));
}

TEST_F(call_sender, a_long_call_of_which_nothing_has_left_by_its_deadline_is_taken_back) {
  EXPECT_FALSE(send(500, soon(1'000'000)));
  EXPECT_NE(error<deadline_exceeded>().find("has not run"), std::string::npos);
  EXPECT_TRUE(peers_[other].unsent.empty());
  EXPECT_EQ(peers_[other].calls_sent, 0U);
}

TEST_F(call_sender, a_long_call_is_built_in_the_memory_of_the_connection_if_there_is_some) {
  to_.long_memory.resize(1000);
  to_.allowed = 1;
  ASSERT_TRUE(send(1000));
  ASSERT_EQ(to_.heads.size(), 1U);
  EXPECT_EQ(sent(0).kind(), wire_kind::call);
  EXPECT_EQ(to_.payloads[0], test::bytes(1000, std::byte{7}));
}

TEST_F(call_sender, more_than_the_node_takes_is_refused_with_both_sizes) {
  peers_[other].max_message = 400;
  try {
    send(500);
    FAIL() << "was sent";
  } catch (const call_error& why) {
    EXPECT_NE(std::string(why.what()).find("500"), std::string::npos);
    EXPECT_NE(std::string(why.what()).find("400"), std::string::npos);
  }
  EXPECT_TRUE(peers_[other].sending.try_lock()) << "the lock was given back";
  peers_[other].sending.unlock();
}

TEST_F(call_sender, a_node_that_is_not_ready_is_connected_first) {
  to_.allowed = 1;
  peers_[other].state = peer_state::unknown;
  int asked = 0;
  node_.on_make_ready = [&](node_t node) {
    EXPECT_EQ(node, other);
    ++asked;
    peers_[other].state = peer_state::ready;
  };
  ASSERT_TRUE(send(8));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(to_.heads.size(), 1U);
}

TEST_F(call_sender, a_node_that_does_not_get_ready_in_time_fails_the_call_as_not_run) {
  peers_[other].state = peer_state::unknown;
  node_.late = true;
  EXPECT_FALSE(send(8, soon(1'000'000)));
  EXPECT_THROW(ping(8, soon(1'000'000)), deadline_exceeded);
  EXPECT_NE(error<deadline_exceeded>(), "");
  detail::batch_owner owner{[](detail::batch_owner&) {}};
  EXPECT_THROW(static_cast<void>(sender_.begin_batched(soon(1'000'000), function(), &decode_nothing, owner)),
               deadline_exceeded);
  EXPECT_TRUE(to_.heads.empty());
}

TEST_F(call_sender, a_node_that_is_lost_meanwhile_fails_the_call_as_not_run) {
  peers_[other].state = peer_state::lost;
  try {
    send(8);
    FAIL() << "was sent";
  } catch (const node_failure& why) {
    EXPECT_EQ(why.outcome(), call_outcome::not_run);
  }
}

TEST_F(call_sender, a_ping_has_no_slot_and_takes_note_of_losses) {
  to_.allowed = 2;
  ASSERT_TRUE(ping(8));
  EXPECT_EQ(sent(0).id(), detail::no_reply);
  EXPECT_EQ(node_.notices, 0);
  events_.report_end(self, detail::peer_end::connection_lost, "for the test");
  ASSERT_TRUE(ping(8));
  EXPECT_EQ(node_.notices, 1);
}

TEST_F(call_sender, a_ping_waits_while_the_node_holds_them) {
  to_.allowed = 1;
  peers_[other].pings.hold(true);
  node_.on_progress = [this] {
    if (node_.progresses == 5) peers_[other].pings.hold(false);
  };
  ASSERT_TRUE(ping(8));
  EXPECT_EQ(node_.progresses, 5);
  EXPECT_EQ(to_.heads.size(), 1U);
}

TEST_F(call_sender, a_ping_that_is_held_beyond_its_deadline_is_refused) {
  to_.allowed = 1;
  peers_[other].pings.hold(true);
  EXPECT_THROW(ping(8, soon(1'000'000)), deadline_exceeded);
  EXPECT_TRUE(to_.heads.empty());
}

// ---- batches

class batch_of_two : public call_sender {
 protected:
  batch_of_two() {
    for (call_slot*& slot : slots_) {
      slot = sender_.begin_batched(destination(other), function(), &decode_nothing, owner_).slot;
      claimed_.push_back(slot);
    }
  }
  void send_both(const destination& to = other) {
    const test::bytes records = test::batch_of({slots_[0]->id, slots_[1]->id});
    sender_.send_batch(to, records, 2, slots_);
  }
  detail::batch_owner owner_{[](detail::batch_owner&) {}};
  call_slot* slots_[2];
};

TEST_F(batch_of_two, are_not_due_before_the_batch_is_sent) {
  for (const call_slot* const slot : slots_) {
    EXPECT_TRUE(slot->in_batch);
    EXPECT_FALSE(slot->reply_due);
    EXPECT_EQ(slot->node, self);
  }
  calls_.fail_all_of(other, [](call_slot&) -> std::exception_ptr { return nullptr; });
  EXPECT_EQ(slots_[0]->state, slot_state::pending) << "not the other node's to fail";
}

TEST_F(batch_of_two, travel_as_one_message) {
  to_.allowed = 1;
  send_both();
  ASSERT_EQ(to_.heads.size(), 1U);
  EXPECT_TRUE(sent(0).is_batch());
  EXPECT_EQ(sent(0).calls(), 2U);
  EXPECT_EQ(peers_[other].calls_sent, 2U);
  for (const call_slot* const slot : slots_) {
    EXPECT_FALSE(slot->in_batch);
    EXPECT_TRUE(slot->reply_due);
    EXPECT_EQ(slot->node, other);
  }
}

TEST_F(batch_of_two, fail_both_when_the_node_is_lost) {
  peers_[other].state = peer_state::lost;
  send_both();
  EXPECT_NE(error<node_failure>(), "");
  EXPECT_EQ(slots_[0]->state, slot_state::failed);
}

TEST_F(batch_of_two, fail_both_as_not_run_when_they_have_not_left_by_their_deadline) {
  peers_[other].max_payload = 8;  // so that it goes through the outbox
  send_both(soon(1'000'000));
  EXPECT_NE(error<deadline_exceeded>().find("has not run"), std::string::npos);
  EXPECT_EQ(slots_[0]->state, slot_state::failed);
  EXPECT_TRUE(peers_[other].unsent.empty());
}

// ---- faults

class faulty_sender : public call_sender {
 protected:
  /// From now on calls suffer what the rules say.
  void rules(const std::string& text) {
    faults_.emplace(self, base::parse_faults(text, "HERE"), msg::handler_table::local());
    faulty_.emplace(node_, detail::call_sender::parts{self, msg::handler_table::local(), peers_, idle_.waits, calls_,
                                                      room_, events_, &*faults_});
    to_.allowed = 10;
  }
  bool send(const destination& to = other, when_full policy = when_full::wait) {
    call_room out;
    const bool room = faulty_->begin(to, function(), 8, &decode_nothing, policy, out);
    if (out.slot != nullptr) claimed_.push_back(out.slot);
    if (!room) return false;
    std::fill_n(out.data, 8, std::byte{7});
    return faulty_->finish(out);
  }

  std::optional<detail::fault_injector> faults_;
  std::optional<detail::call_sender> faulty_;
};

TEST_F(faulty_sender, a_call_fails_before_it_is_sent) {
  rules("*:request:1");
  EXPECT_FALSE(send());
  EXPECT_TRUE(to_.heads.empty());
  EXPECT_NE(error<node_failure>().find("HAM_FAULT"), std::string::npos);
  call_room out;
  EXPECT_THROW(static_cast<void>(faulty_->begin(destination(other), function(), 8, nullptr, when_full::wait, out)),
               node_failure)
      << "a ping has no future";
  EXPECT_TRUE(peers_[other].sending.try_lock()) << "nobody holds it";
  peers_[other].sending.unlock();
}

TEST_F(faulty_sender, rules_that_do_not_strike_change_nothing) {
  rules("*:request:0;nobody:reply:1");
  EXPECT_TRUE(send());
  EXPECT_EQ(sent(0).key(), test::callable_key());
  EXPECT_EQ(last().fault, 0);
}

TEST_F(faulty_sender, a_call_decides_once_however_long_it_waits_for_room) {
  rules("*:request:0.5:1");
  std::vector<bool> decisions, again;
  for (int i = 0; i < 10; ++i) decisions.push_back(send());
  rules("*:request:0.5:1");
  for (int i = 0; i < 10; ++i) {
    to_.allowed = 0;
    node_.on_progress = [this] { to_.allowed = 1; };
    again.push_back(send());
  }
  EXPECT_EQ(decisions, again);
}

TEST_F(faulty_sender, a_reply_is_marked_before_it_can_come) {
  rules("nobody:reply:1;*:reply=drop:1");
  to_.on_commit = [this] { EXPECT_NE(calls_.find(frame_header::decode(to_.heads.back()).id())->fault, 0); };
  EXPECT_TRUE(send());
  EXPECT_EQ(last().fault, 2);
  last().fault = 0;
}

TEST_F(faulty_sender, a_call_is_late_as_if_the_queue_were_full) {
  rules("*:request=20ms:1");
  const std::int64_t before = base::now_ns();
  EXPECT_TRUE(send());
  EXPECT_GE(base::now_ns() - before, 20'000'000);
  EXPECT_GT(node_.progresses, 0) << "it executes what arrives meanwhile";
  EXPECT_FALSE(send(other, when_full::refuse));
  EXPECT_FALSE(send(soon(5'000'000)));
  EXPECT_FALSE(error<deadline_exceeded>().empty());
  EXPECT_EQ(to_.heads.size(), 1U);
}

TEST_F(faulty_sender, a_node_is_lost_and_the_call_finds_that) {
  rules("*:request=drop:1");
  node_.on_break = [this] {
    peers_[other].state = peer_state::lost;
    return true;
  };
  EXPECT_THROW(send(), node_failure);
  EXPECT_EQ(node_.broken, std::vector<std::string>{"*:request=drop:1"});
  EXPECT_TRUE(to_.heads.empty());
}

TEST_F(faulty_sender, a_call_to_a_process_that_was_killed_is_sent) {
  rules("*:request=kill:1");
  EXPECT_TRUE(send()) << "what becomes of it is seen when its end is noticed";
  EXPECT_EQ(node_.broken.size(), 1U);
}

TEST_F(faulty_sender, who_is_called_by_a_handle_suffers_too) {
  const destination handle(other | detail::exact_bit);
  rules("*:request:1");
  EXPECT_FALSE(send(handle));
  EXPECT_NE(error<node_failure>().find("node 1 failed"), std::string::npos);
  rules("*:request=kill:1");
  EXPECT_TRUE(send(handle));
  EXPECT_EQ(node_.broken.size(), 1U);
}

TEST_F(faulty_sender, the_process_suffers_that_has_the_number_now) {
  constexpr node_t supervised = 5;  // its first process has left, and nothing is known of that any more
  node_.replacement = other;
  rules("*:request=kill:1");
  EXPECT_TRUE(send(supervised));
  EXPECT_EQ(node_.broken.size(), 1U);
}

TEST_F(faulty_sender, calls_of_a_batch_suffer_one_by_one) {
  struct nobody : detail::batch_owner {
  } owner;
  rules("*:request:1");
  EXPECT_THROW(static_cast<void>(faulty_->begin_batched(destination(other), function(), &decode_nothing, owner)),
               node_failure);
  rules("*:reply:1");
  const detail::batch_slot one = faulty_->begin_batched(destination(other), function(), &decode_nothing, owner);
  EXPECT_EQ(one.slot->fault, 1);
  EXPECT_EQ(one.key, test::callable_key());
  one.slot->in_batch = false;
  calls_.cancel(*one.slot);
}

TEST_F(faulty_sender, a_call_of_a_batch_is_not_late_beyond_its_deadline) {
  detail::batch_owner owner{[](detail::batch_owner&) {}};
  const auto begin = [&](std::int64_t in_ns) {
    return faulty_->begin_batched(soon(in_ns), function(), &decode_nothing, owner);
  };
  rules("*:request=10s:1");
  const std::int64_t before = base::now_ns();
  EXPECT_THROW(static_cast<void>(begin(20'000'000)), deadline_exceeded);
  EXPECT_GE(base::now_ns() - before, 20'000'000) << "nothing is said before";
  EXPECT_LT(base::now_ns() - before, 9 * second_ns);
  rules("*:request=20ms:1");
  const detail::batch_slot one = begin(60 * second_ns);
  EXPECT_GT(node_.progresses, 0);
  one.slot->in_batch = false;
  calls_.cancel(*one.slot);
  peers_[other].state = peer_state::unknown;
  node_.late = true;
  rules("*:request:1");
  EXPECT_THROW(static_cast<void>(begin(1'000'000)), deadline_exceeded) << "without a node there is nothing to decide";
}

// ---- the flight recorder

TEST_F(call_sender, calls_and_pings_are_recorded_when_they_are_sent) {
  const test::recorder_here recorder(self);
  to_.allowed = 2;
  ASSERT_TRUE(send(8));
  ASSERT_TRUE(ping(8));
  const auto past = recorder.thread().past;
  ASSERT_EQ(past.size(), 2U);
  EXPECT_EQ(past[0].kind, base::recorded_kind::pinged);
  EXPECT_EQ(past[0].peer, other);
  EXPECT_EQ(past[0].function, test::callable_key());
  EXPECT_EQ(past[1].kind, base::recorded_kind::sent);
  EXPECT_EQ(past[1].peer, other);
  EXPECT_EQ(past[1].function, test::callable_key());
  EXPECT_EQ(past[1].call, last().id);
}

TEST_F(call_sender, what_is_not_sent_is_not_recorded) {
  const test::recorder_here recorder(self);
  to_.allowed = 0;
  ASSERT_FALSE(send(8, other, when_full::refuse));
  EXPECT_TRUE(recorder.thread().past.empty());
}

}  // namespace call_sender_test
