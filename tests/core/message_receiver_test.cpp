// What becomes of frames that have arrived. Without an engine: frames are handed in as a transport would, by the thread
// that holds the receiving lock.
#include "core/message_receiver.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/batch_records.hpp"
#include "core/callable.hpp"
#include "core/greeting.hpp"
#include "core/idle_node.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/recorded_replies.hpp"
#include "core/remote_exception.hpp"
#include "ham/msg/manifest.hpp"

namespace message_receiver_test {

using namespace ham;
using detail::call_slot;
using detail::frame_header;
using detail::peer;
using detail::peer_state;
using detail::slot_state;
using detail::to_byte;
using detail::wire_kind;
using test::bytes;

constexpr node_t self = 0;
constexpr node_t other = 1;

class receiving_node : public detail::receiving_node, public detail::called_node {
 public:
  std::function<void()> on_events = [] {};
  std::vector<std::string> failures, notices, relayed, goodbyes;
  std::vector<std::pair<std::uint32_t, std::string>> replayed;
  std::vector<node_t> welcomed;
  std::vector<std::string> broken;
  std::function<bool()> on_break = [] { return true; };
  int long_messages = 0;

  bool handle_events() noexcept override {
    on_events();
    return true;
  }
  void welcome(peer& who) override { welcomed.push_back(who.node); }
  void fail_peer(peer& who, const std::string& why) noexcept override {
    who.failed = true;
    failures.push_back(why);
  }
  std::exception_ptr loss_of(peer&, const msg::handler_entry*, std::uint32_t, call_outcome outcome) noexcept override {
    node_failure::details what;
    what.outcome = outcome;
    return std::make_exception_ptr(node_failure("lost", what));
  }
  void receive_notice(peer&, std::span<const std::byte> text) override { notices.push_back(text_of(text)); }
  void receive_relayed(peer&, frame_header, std::span<const std::byte> payload) override {
    relayed.push_back(text_of(payload));
  }
  void receive_replayed(peer&, frame_header head, std::span<const std::byte> payload) override {
    if (payload.empty()) throw protocol_error("a result of a replay that cannot be");
    replayed.emplace_back(head.replay(), text_of(payload));
  }
  void receive_goodbye(peer&, std::span<const std::byte> text) override { goodbyes.push_back(text_of(text)); }
  void used_long_memory() noexcept override { ++long_messages; }
  bool break_peer(peer&, const base::fault_rule& by) override {
    broken.push_back(by.text);
    return on_break();
  }
  bool queue_for_context(std::uint32_t, detail::stored_message) override { return false; }
  void lose_ping(frame_header, std::span<const std::byte>, std::span<const std::byte>) noexcept override {}

 private:
  static std::string text_of(std::span<const std::byte> text) {
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
};

void decode_number(call_slot& slot, msg::reader& reply) { slot.storage[0] = std::byte{reply.number<std::uint8_t>()}; }
void refuse_to_decode(call_slot&, msg::reader&) { throw std::length_error("no such result"); }

class message_receiver : public testing::Test {
 protected:
  message_receiver() {
    static_cast<void>(test::callable_key());
    peers_.claim(self)->hello_seen = true;
    who_.hello_seen = true;
    who_.to = &from_;
    who_.state = peer_state::ready;
    from_.user = &who_;
    greetings_.limit_messages(1 << 20);
    test::on_call = [this](std::uint32_t id) { run_.push_back(id); };
    idle_.waits.lock();
  }
  ~message_receiver() override {
    idle_.waits.unlock();
    test::on_call = nullptr;
    for (call_slot* const slot : pending_) {
      if (slot->state == slot_state::pending) calls_.fail_unsent(*slot, std::make_exception_ptr(call_error("over")));
      if (slot->state == slot_state::failed) detail::slot_error(*slot).~exception_ptr();
      calls_.release(*slot);
    }
  }
  /// Bytes behind the payload can be read, as in every transport.
  static constexpr transport::frame_head fragment{0, detail::no_reply, to_byte(wire_kind::fragment)};

  void arrives(transport::frame_head head, bytes payload = {}) {
    const std::size_t size = payload.size();
    payload.resize(std::max(size, transport::readable_payload));
    receiver_.receive(from_, {head, {payload.data(), size}});
  }
  void arrives(frame_header head, bytes payload = {}) { arrives(head.encode(), std::move(payload)); }
  static frame_header call(std::uint32_t id) { return frame_header::call(test::callable_key(), id, false); }
  static bytes bytes_of(std::string_view text) {
    bytes result(text.size());
    std::memcpy(result.data(), text.data(), text.size());
    return result;
  }
  /// A call to the other node that waits for its reply.
  call_slot& pending(detail::result_decoder decode = &decode_number) {
    call_slot& slot = calls_.claim();
    slot.decode = decode;
    slot.function = &msg::handler_registrar<test::callable>::entry();
    slot.node = other;
    slot.state = slot_state::pending;
    slot.reply_due = true;
    pending_.push_back(&slot);
    return slot;
  }
  template <class Error>
  static std::string error_of(call_slot& slot) {
    EXPECT_EQ(slot.state, slot_state::failed);
    try {
      std::rethrow_exception(detail::slot_error(slot));
    } catch (const Error& why) {
      return why.what();
    } catch (...) {
      ADD_FAILURE() << "another error";
    }
    return {};
  }
  using numbers = std::vector<std::uint32_t>;

  numbers run_;
  std::vector<call_slot*> pending_;
  test::idle_node idle_;
  test::narrow_endpoint from_;
  detail::peer_table peers_{2};
  peer& who_ = *peers_.claim(other);
  detail::self_endpoint own_{self, [] {}};
  test::recorded_replies replies_;
  detail::ping_flow room_{peers_, own_, replies_};
  detail::call_table calls_{nullptr, idle_.waits};
  detail::continuation_runner continuations_{nullptr, calls_.due()};
  receiving_node node_;
  detail::dispatcher dispatcher_{
      node_, {nullptr, self, msg::handler_table::local(), peers_, idle_.waits, room_, replies_, continuations_}};
  detail::handshake greetings_{*peers_.claim(self), msg::handler_table::local(), replies_, idle_.waits};
  detail::message_receiver receiver_{node_, {msg::handler_table::local(), dispatcher_, calls_, greetings_}};
};

// ---- calls

TEST_F(message_receiver, a_call_runs_and_its_frame_is_released_before) {
  test::on_call = [this](std::uint32_t id) {
    EXPECT_EQ(from_.released, 1);
    run_.push_back(id);
  };
  arrives(call(4), bytes(8));
  EXPECT_EQ(run_, numbers{4});
  EXPECT_EQ(who_.bytes_received.bytes(), 8 + detail::traffic_counter::head_bytes);
}

TEST_F(message_receiver, a_longer_call_runs_as_well) {
  arrives(call(4), bytes(5000));
  arrives(call(5), bytes(300'000));
  EXPECT_EQ(run_, (numbers{4, 5}));
  EXPECT_GE(node_.long_messages, 1) << "of the second one";
  receiver_.free_long_buffers();
}

TEST_F(message_receiver, a_batch_runs_in_its_order) {
  arrives(frame_header::batch(3, false), test::batch_of({7, 8, 9}));
  EXPECT_EQ(run_, (numbers{7, 8, 9}));
}

TEST_F(message_receiver, a_call_in_fragments_runs_when_it_is_complete) {
  const auto piece = [&](std::uint64_t offset) {
    bytes made(sizeof(transport::fragment_head) + 40);
    const auto head = transport::little_endian({80, offset, call(6).encode().key, call(6).encode().kind});
    std::memcpy(made.data(), &head, sizeof head);
    return made;
  };
  transport::frame_head head = fragment;
  head.call = 6;
  arrives(head, piece(0));
  EXPECT_EQ(run_, numbers{});
  arrives(head, piece(40));
  EXPECT_EQ(run_, numbers{6});
}

// ---- replies

TEST_F(message_receiver, a_reply_settles_its_call) {
  call_slot& slot = pending();
  arrives(frame_header::reply(slot.id), {std::byte{42}});
  EXPECT_EQ(slot.state, slot_state::value);
  EXPECT_EQ(slot.storage[0], std::byte{42});
  EXPECT_EQ(from_.released, 1);
}

TEST_F(message_receiver, an_exception_is_thrown_again) {
  call_slot& slot = pending();
  arrives(frame_header::reply_error(slot.id), detail::encode_call_error("it was refused"));
  EXPECT_NE(error_of<call_error>(slot).find("it was refused"), std::string::npos);
  EXPECT_TRUE(node_.failures.empty());
}

TEST_F(message_receiver, the_results_of_a_batch_settle_its_calls) {
  call_slot& first = pending();
  call_slot& second = pending();
  bytes both(2 * (detail::result_head_bytes + 1));
  msg::writer to(both.data(), both.size());
  for (const call_slot* const slot : {&first, &second}) {
    to.number(slot->id.load());
    to.number(std::uint32_t{1});
    to.number(std::uint8_t{9});
  }
  arrives(frame_header::of(wire_kind::batch_reply), both);
  EXPECT_EQ(first.state, slot_state::value);
  EXPECT_EQ(second.state, slot_state::value);
  EXPECT_TRUE(node_.failures.empty());
}

TEST_F(message_receiver, what_a_codec_refuses_fails_the_call_as_run_and_the_peer) {
  call_slot& slot = pending(&refuse_to_decode);
  arrives(frame_header::reply(slot.id), {std::byte{1}});
  EXPECT_NE(error_of<node_failure>(slot), "");
  ASSERT_EQ(node_.failures.size(), 1U);
  EXPECT_NE(node_.failures[0].find("no such result"), std::string::npos);
}

// ---- hostile bytes

TEST_F(message_receiver, replies_that_nobody_waits_for_fail_the_peer) {
  arrives(frame_header::reply(99), {std::byte{1}});
  EXPECT_EQ(node_.failures.size(), 1U);
  EXPECT_EQ(from_.released, 1);
}

TEST_F(message_receiver, a_reply_that_is_another_nodes_to_give_fails_the_peer) {
  call_slot& slot = pending();
  slot.node = self;
  arrives(frame_header::reply(slot.id), {std::byte{1}});
  EXPECT_EQ(node_.failures.size(), 1U);
  EXPECT_EQ(slot.state, slot_state::pending);
}

TEST_F(message_receiver, kinds_that_do_not_exist_fail_the_peer) {
  arrives(transport::frame_head{0, 0, 100});
  EXPECT_EQ(node_.failures.size(), 1U);
  EXPECT_EQ(from_.released, 1);
}

TEST_F(message_receiver, a_reply_to_a_batch_that_is_empty_or_cut_off_fails_the_peer) {
  arrives(frame_header::of(wire_kind::batch_reply));
  who_.failed = false;
  arrives(frame_header::of(wire_kind::batch_reply), bytes(detail::result_head_bytes - 1));
  EXPECT_EQ(node_.failures.size(), 2U);
}

TEST_F(message_receiver, a_fragment_of_a_fragment_fails_the_peer) {
  bytes piece(sizeof(transport::fragment_head) + 1);
  const auto head = transport::little_endian({1, 0, 0, to_byte(wire_kind::fragment)});
  std::memcpy(piece.data(), &head, sizeof head);
  arrives(fragment, piece);
  EXPECT_EQ(node_.failures.size(), 1U);
}

TEST_F(message_receiver, more_than_the_limit_in_one_frame_fails_the_peer) {
  greetings_.limit_messages(200'000);
  arrives(call(4), bytes(300'000));
  EXPECT_EQ(run_, numbers{});
  ASSERT_EQ(node_.failures.size(), 1U);
  EXPECT_NE(node_.failures[0].find("200000"), std::string::npos) << node_.failures[0];
}

TEST_F(message_receiver, nothing_more_of_a_peer_that_broke_the_rules_or_is_lost_is_believed) {
  who_.failed = true;
  arrives(call(4), bytes(8));
  who_.failed = false;
  who_.state = peer_state::lost;
  arrives(call(5), bytes(8));
  EXPECT_EQ(run_, numbers{});
  EXPECT_EQ(from_.released, 2) << "its frames make room";
}

// ---- words of other nodes

TEST_F(message_receiver, of_an_endpoint_that_was_not_seen_yet_the_connection_is_handled_first) {
  from_.user = nullptr;
  node_.on_events = [this] { from_.user = &who_; };
  arrives(call(4), bytes(8));
  EXPECT_EQ(run_, numbers{4});
}

TEST_F(message_receiver, notices_relayed_frames_and_goodbyes_are_the_nodes) {
  arrives(frame_header::of(wire_kind::notice), bytes_of("to the job"));
  arrives(frame_header::of(wire_kind::goodbye), bytes_of("nonsense"));
  arrives(frame_header::relayed(3, to_byte(wire_kind::call)), bytes_of("between two others"));
  EXPECT_EQ(node_.notices, std::vector<std::string>{"to the job"});
  EXPECT_EQ(node_.relayed, std::vector<std::string>{"between two others"});
  EXPECT_EQ(node_.goodbyes, std::vector<std::string>{"nonsense"});
}

TEST_F(message_receiver, results_of_replays_are_the_nodes) {
  arrives(frame_header::replayed(7), bytes_of("result"));
  const std::vector<std::pair<std::uint32_t, std::string>> wanted{{7, "result"}};
  EXPECT_EQ(node_.replayed, wanted);
  EXPECT_TRUE(node_.failures.empty());
  arrives(frame_header::replayed(8));
  EXPECT_EQ(node_.replayed, wanted);
  EXPECT_EQ(node_.failures.size(), 1U);
}

TEST_F(message_receiver, a_greeting_makes_the_peer_ready) {
  who_.hello_seen = false;
  who_.state = peer_state::greeting;
  detail::greeting theirs;
  theirs.manifest = msg::manifest::local().id();
  arrives(frame_header::of(wire_kind::hello), theirs.encode());
  EXPECT_EQ(who_.state, peer_state::ready);
  EXPECT_EQ(node_.welcomed, std::vector<node_t>{other});
}

TEST_F(message_receiver, knows_what_outlives_its_sender) {
  const auto outlives = [](frame_header head) {
    return detail::message_receiver::outlives_sender({head.encode(), {}});
  };
  EXPECT_TRUE(outlives(frame_header::reply(1)));
  EXPECT_TRUE(outlives(frame_header::reply_error(1)));
  EXPECT_TRUE(outlives(frame_header::of(wire_kind::batch_reply)));
  EXPECT_TRUE(outlives(frame_header::relayed(3, to_byte(wire_kind::call)))) << "it is for another node";
  EXPECT_TRUE(outlives(frame_header::of(wire_kind::notice))) << "how main ended there";
  EXPECT_TRUE(outlives(frame_header::replayed(1)));
  EXPECT_FALSE(outlives(call(1)));
  EXPECT_FALSE(outlives(frame_header::of(wire_kind::goodbye)));
  EXPECT_FALSE(detail::message_receiver::outlives_sender({transport::frame_head{0, 0, 100}, {}}));
  bytes piece(sizeof(transport::fragment_head) + 1);
  const auto head = transport::little_endian({1, 0, 0, to_byte(wire_kind::reply)});
  std::memcpy(piece.data(), &head, sizeof head);
  EXPECT_TRUE(detail::message_receiver::outlives_sender({fragment, piece}));
}

// ---- faults

class faulty_receiver : public message_receiver {
 protected:
  detail::fault_injector faults_{self, base::parse_faults("*:reply:1;*:reply=1s:1;*:reply=drop:1", "HERE"),
                                 msg::handler_table::local()};
  detail::message_receiver faulty_{node_, {msg::handler_table::local(), dispatcher_, calls_, greetings_, &faults_}};

  /// The reply to a call that the rule of this place, from 1, was to strike.
  call_slot& answered(std::uint8_t mark) {
    call_slot& slot = pending();
    slot.fault = mark;
    bytes payload(transport::readable_payload);
    payload[0] = std::byte{5};
    faulty_.receive(from_, {frame_header::reply(slot.id).encode(), {payload.data(), 1}});
    return slot;
  }
};

TEST_F(faulty_receiver, a_reply_that_is_to_be_lost_fails_its_call_alone) {
  call_slot& slot = answered(1);
  const std::string why = error_of<node_failure>(slot);
  EXPECT_NE(why.find("HAM_FAULT"), std::string::npos);
  EXPECT_NE(why.find("has perhaps run"), std::string::npos) << why;
  EXPECT_FALSE(slot.reply_due);
  EXPECT_TRUE(node_.failures.empty());
  EXPECT_EQ(answered(0).state, slot_state::value);
}

TEST_F(faulty_receiver, a_reply_is_held_back_and_counts_when_it_is_due) {
  call_slot& slot = answered(2);
  EXPECT_EQ(slot.state, slot_state::pending);
  EXPECT_NE(calls_.next_deadline_ns(), base::never_ns) << "who sleeps wakes up for it";
  const auto held = faults_.take_due(base::never_ns);
  ASSERT_TRUE(held);
  faulty_.receive_held(who_, *held);
  EXPECT_EQ(slot.state, slot_state::value);
  EXPECT_EQ(slot.storage[0], std::byte{5});
}

TEST_F(faulty_receiver, a_reply_that_was_held_back_for_too_long_is_dropped) {
  call_slot& slot = answered(2);
  calls_.fail(slot, std::make_exception_ptr(call_error("too late")));
  faulty_.receive_held(who_, *faults_.take_due(base::never_ns));
  EXPECT_EQ(error_of<call_error>(slot), "too late");
  EXPECT_FALSE(slot.reply_due) << "its slot can be used again";
}

TEST_F(faulty_receiver, a_reply_that_was_held_back_while_its_node_was_lost_is_no_violation) {
  call_slot& slot = answered(2);
  slot.reply_due = false;
  calls_.fail(slot, std::make_exception_ptr(call_error("lost")));
  faulty_.receive_held(who_, *faults_.take_due(base::never_ns));
  EXPECT_TRUE(node_.failures.empty());
}

TEST_F(faulty_receiver, a_node_is_broken_and_its_call_left_to_that) {
  call_slot& slot = answered(3);
  EXPECT_EQ(node_.broken, std::vector<std::string>{"*:reply=drop:1"});
  EXPECT_EQ(slot.state, slot_state::pending);
  EXPECT_TRUE(slot.reply_due);
  EXPECT_EQ(slot.fault, 0);
}

TEST_F(faulty_receiver, what_nobody_waits_for_suffers_nothing) {
  call_slot& slot = pending();
  slot.fault = 1;
  slot.orphan = true;
  const std::uint32_t id = slot.id;
  faulty_.receive(from_, {frame_header::reply(id).encode(), {}});
  EXPECT_EQ(calls_.find(id), nullptr) << "given back";
  pending_.clear();
}

}  // namespace message_receiver_test
