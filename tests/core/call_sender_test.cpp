// How calls leave a node: room, back-pressure, deadlines, faults.
#include "core/call_sender.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/recorder_here.hpp"
#include "core/sending_node.hpp"

namespace call_sender_test {

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

TEST_F(call_sender, who_calls_while_a_node_is_asked_for_a_late_function_asks_as_well) {
  const msg::manifest mine = msg::manifest::local();
  const std::size_t keys = msg::handler_table::local().size();
  peer& who = peers_[other];
  to_.allowed = 2;
  who.translation = std::make_unique<msg::translation>();  // it has none of them
  int questions = 0;
  node_.on_ask = [&](node_t node) {
    EXPECT_EQ(node, other);
    const std::uint64_t question = who.begin_question();
    if (++questions == 1) {
      EXPECT_TRUE(send(8)) << "as of another thread, or of a function that runs meanwhile";
    }
    auto learned = std::make_unique<msg::translation>(mine, mine);
    who.take_answer(question, keys, learned);
  };
  EXPECT_TRUE(send(8));
  EXPECT_EQ(questions, 2);
  EXPECT_EQ(to_.heads.size(), 2U);
}

TEST_F(call_sender, a_placed_call_does_not_ask_beyond_its_deadline) {
  peers_[other].translation = std::make_unique<msg::translation>();
  int questions = 0;
  node_.on_ask = [&](node_t) { ++questions; };
  detail::call_sender::placed_function placed;
  EXPECT_THROW(sender_.place(soon(-1), function(), &decode_nothing, placed), deadline_exceeded);
  EXPECT_EQ(questions, 1);
}

TEST_F(call_sender, a_key_is_not_awaited_beyond_its_deadline) {
  const msg::manifest mine = msg::manifest::local();
  peer& who = peers_[other];
  who.translation = std::make_unique<msg::translation>();
  std::int64_t asked_until = -1;
  node_.on_ask_until = [&](std::int64_t deadline_ns) { asked_until = deadline_ns; };
  const std::int64_t over = base::now_ns() - 1;
  EXPECT_THROW(static_cast<void>(sender_.key_on(who, function(), over)), deadline_exceeded);
  EXPECT_EQ(asked_until, over);
  node_.on_ask = [&](node_t) {
    auto learned = std::make_unique<msg::translation>(mine, mine);
    who.take_answer(who.begin_question(), msg::handler_table::local().size(), learned);
  };
  EXPECT_EQ(sender_.key_on(who, function(), 0), function().key());
  EXPECT_EQ(asked_until, 0);
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

// ---- faults

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

class counting_endpoint : public test::narrow_endpoint {
 public:
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept override {
    ++attempts;
    return narrow_endpoint::reserve(size);
  }
  int attempts = 0;
};

/// A call that finds no room asks for it once on the usual path, and once more on the general one. Who asks
/// the rules has left its node in the call.
TEST_F(faulty_sender, without_rules_for_calls_a_call_takes_the_usual_path_and_asks_no_rule) {
  struct path {
    int attempts;
    bool asked;
  };
  const auto path_of = [this](detail::call_sender& sender) {
    counting_endpoint full;
    connect(full);
    call_room out;
    EXPECT_FALSE(sender.begin(destination(other), function(), 8, &decode_nothing, when_full::refuse, out));
    connect(to_);
    return path{full.attempts, out.to != nullptr};
  };
  const path off = path_of(sender_);
  EXPECT_EQ(off.attempts, 2);
  EXPECT_FALSE(off.asked);
  rules("*:connect:1");
  const path of_others = path_of(*faulty_);
  EXPECT_EQ(of_others.attempts, 2);
  EXPECT_FALSE(of_others.asked);
  rules("*:request:0");
  const path on = path_of(*faulty_);
  EXPECT_EQ(on.attempts, 1);
  EXPECT_TRUE(on.asked);
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
