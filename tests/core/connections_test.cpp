// How nodes come and go, and what becomes of calls to those that are lost. Without an engine.
#include "core/connections.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/recorder_area.hpp"
#include "core/callable.hpp"
#include "core/greeting.hpp"
#include "core/idle_node.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/recorded_replies.hpp"

namespace connections_test {

using namespace ham;
using detail::call_slot;
using detail::frame_header;
using detail::peer;
using detail::peer_end;
using detail::peer_event;
using detail::peer_state;
using detail::slot_state;
using detail::wire_kind;
using test::bytes;

constexpr node_t self = 0;
constexpr node_t other = 1;  // of every narrow_endpoint

class node_of_connections : public detail::connected_node, public detail::receiving_node, public detail::called_node {
 public:
  int hosts_lost = 0;
  bool ends = false;
  node_t number = -1;  ///< supervised, of every process
  std::vector<std::string> failures;
  std::vector<std::pair<node_t, std::string>> lost;

  [[nodiscard]] bool ends_with(node_t node) const noexcept override { return node == 0; }
  void lose_host() noexcept override { ++hosts_lost; }
  void after_loss(node_t node, const std::string& why, peer_end) noexcept override { lost.emplace_back(node, why); }
  bool leaving() const noexcept override { return ends; }
  node_t supervised_number(node_t process) const override { return number < 0 ? process : number; }
  bool handle_events() noexcept override { return false; }
  void welcome(peer&) override {}
  void fail_peer(peer&, const std::string& why) noexcept override { failures.push_back(why); }
  std::exception_ptr loss_of(peer&, const msg::handler_entry*, std::uint32_t, call_outcome) noexcept override {
    return std::make_exception_ptr(call_error("not asked for here"));
  }
  void receive_notice(peer&, std::span<const std::byte>) override {}
  void receive_relayed(peer&, frame_header, std::span<const std::byte>) override {}
  void receive_replayed(peer&, frame_header, std::span<const std::byte>) override {}
  void receive_goodbye(peer&, std::span<const std::byte>) override {}
  void used_long_memory() noexcept override {}
  bool break_peer(peer&, const base::fault_rule&) override { return false; }
  bool queue_for_context(std::uint32_t, detail::stored_message) override { return false; }
  void lose_ping(frame_header, std::span<const std::byte>, std::span<const std::byte>) noexcept override {}
};

void decode_nothing(call_slot&, msg::reader&) {}

class connections : public testing::Test {
 protected:
  connections() {
    static_cast<void>(test::callable_key());
    detail::peer_identity::info me;
    me.name = "here";
    own_.about.introduce(me, {});
    own_.state = peer_state::ready;
    idle_.waits.lock();
  }
  ~connections() override {
    idle_.waits.unlock();
    for (call_slot* const slot : pending_) {
      if (slot->state == slot_state::pending) calls_.fail_unsent(*slot, std::make_exception_ptr(call_error("over")));
      if (slot->state == slot_state::failed) detail::slot_error(*slot).~exception_ptr();
      calls_.release(*slot);
    }
  }
  void connect(test::narrow_endpoint& with) {
    peer_event what{&with, -1, peer_end::none, {}};
    connections_.handle(what);
  }
  void end(peer_end how, const std::string& why = "its cable was cut", node_t node = other) {
    peer_event what{nullptr, node, how, why};
    connections_.handle(what);
  }
  peer& who() { return peers_[other]; }
  /// A call to the other node, sent when `position` bytes had been sent before.
  call_slot& pending(std::uint64_t position) {
    call_slot& slot = calls_.claim();
    slot.decode = &decode_nothing;
    slot.function = &msg::handler_registrar<test::callable>::entry();
    slot.node = other;
    slot.position = position;
    slot.state = slot_state::pending;
    slot.reply_due = true;
    pending_.push_back(&slot);
    return slot;
  }
  static node_failure failure_of(call_slot& slot) {
    EXPECT_EQ(slot.state, slot_state::failed);
    try {
      std::rethrow_exception(detail::slot_error(slot));
    } catch (const node_failure& why) {
      return why;
    }
  }

  std::vector<call_slot*> pending_;
  test::idle_node idle_;
  test::narrow_endpoint to_;
  detail::peer_table peers_{2};
  peer& own_ = *peers_.claim(self);
  detail::self_endpoint own_end_{self, [] {}};
  detail::transport_set transports_;
  test::recorded_replies replies_;
  detail::ping_flow room_{peers_, own_end_, replies_};
  detail::call_table calls_{nullptr, idle_.waits};
  detail::continuation_runner continuations_{nullptr, calls_.due()};
  node_of_connections node_;
  detail::peer_events events_{peers_, idle_.waits};
  detail::dispatcher dispatcher_{
      node_, {nullptr, self, msg::handler_table::local(), peers_, idle_.waits, room_, replies_, continuations_}};
  detail::handshake greetings_{own_, msg::handler_table::local(), replies_, idle_.waits};
  detail::message_receiver receiver_{node_, {msg::handler_table::local(), dispatcher_, calls_, greetings_}};
  detail::connections connections_{node_,
                                   {own_, msg::handler_table::local(), peers_, transports_, idle_.waits, calls_,
                                    greetings_, receiver_, replies_, events_}};
};

// ---- nodes that come

TEST_F(connections, a_new_endpoint_is_greeted) {
  connect(to_);
  ASSERT_TRUE(peers_.has(other));
  EXPECT_EQ(who().state, peer_state::greeting);
  EXPECT_EQ(to_.user, &who());
  EXPECT_EQ(who().max_payload, to_.max_payload());
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].head.kind(), wire_kind::hello);
}

TEST_F(connections, a_second_endpoint_of_a_number_is_closed) {
  connect(to_);
  test::narrow_endpoint again;
  connect(again);
  EXPECT_NE(again.closed_because, "");
  EXPECT_EQ(again.user, nullptr);
  EXPECT_EQ(static_cast<transport::endpoint*>(who().to), &to_);
  EXPECT_TRUE(to_.closed_because.empty());
}

TEST_F(connections, an_endpoint_of_a_node_that_was_given_up_before_is_closed_with_the_reason) {
  static_cast<void>(peers_.claim(other));
  end(peer_end::connection_lost, "it took too long");
  connect(to_);
  EXPECT_EQ(to_.closed_because, "it took too long");
  EXPECT_EQ(who().state, peer_state::lost);
}

TEST_F(connections, a_number_that_takes_over_a_place_ends_the_node_that_had_it) {
  const node_t before = other + static_cast<node_t>(detail::peer_table::most);
  ASSERT_TRUE(peers_.grow_to(static_cast<std::size_t>(before) + 1));
  peers_.claim(before)->state = peer_state::ready;
  const detail::peer_hold held(peers_.at_place_of(before));
  connect(to_);
  EXPECT_EQ(held->state, peer_state::lost);
  EXPECT_TRUE(peers_.has(other));
}

// ---- nodes that go

TEST_F(connections, a_lost_node_is_said_to_be_lost_and_why) {
  connect(to_);
  end(peer_end::connection_lost);
  EXPECT_EQ(who().state, peer_state::lost);
  EXPECT_EQ(who().about.loss(), "its cable was cut");
  EXPECT_EQ(to_.closed_because, "its cable was cut");
  EXPECT_EQ(to_.user, nullptr);
  EXPECT_EQ(static_cast<transport::endpoint*>(who().to), &detail::no_endpoint::instance());
  end(peer_end::process_died, "something else");
  EXPECT_EQ(who().about.loss(), "its cable was cut") << "the first reason counts";
}

TEST_F(connections, what_a_dead_process_had_not_taken_has_not_run) {
  connect(to_);
  to_.consumed_so_far = 100;
  call_slot& taken = pending(99);
  call_slot& left = pending(100);
  end(peer_end::process_died);
  EXPECT_EQ(failure_of(taken).outcome(), call_outcome::may_have_run);
  EXPECT_EQ(failure_of(left).outcome(), call_outcome::not_run);
  EXPECT_EQ(failure_of(left).node(), other);
  EXPECT_EQ(failure_of(left).host(), "here") << "it has told nothing, so it was started here";
  EXPECT_NE(std::string(failure_of(left).what()).find("its cable was cut"), std::string::npos);
}

TEST_F(connections, of_a_process_that_may_live_nothing_is_known_but_what_has_not_left) {
  connect(to_);
  to_.consumed_so_far = 100;
  call_slot& sent = pending(100);
  call_slot& queued = pending(100);
  detail::outbox_message message(500);
  who().unsent.add(frame_header::call(test::callable_key(), queued.id, false), message);
  end(peer_end::connection_lost);
  EXPECT_EQ(failure_of(sent).outcome(), call_outcome::may_have_run);
  // The process may live on, but never got the message.
  EXPECT_EQ(failure_of(queued).outcome(), call_outcome::not_run);
}

TEST_F(connections, calls_to_other_nodes_stay_pending) {
  connect(to_);
  call_slot& elsewhere = pending(0);
  elsewhere.node = 2;
  end(peer_end::process_died);
  EXPECT_EQ(elsewhere.state, slot_state::pending);
}

TEST_F(connections, what_it_answered_before_it_went_still_counts_and_its_calls_do_not_run) {
  connect(to_);
  who().hello_seen = true;
  call_slot& answered = pending(0);
  int runs = 0;
  test::on_call = [&](std::uint32_t) { ++runs; };
  const bytes payload(transport::readable_payload);
  to_.arriving.push_back({frame_header::call(test::callable_key(), 3, false).encode(), payload});
  to_.arriving.push_back({frame_header::reply(answered.id).encode(), payload});
  end(peer_end::process_died);
  test::on_call = nullptr;
  EXPECT_EQ(answered.state, slot_state::value);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(to_.released, 2);
}

/// It was lost before this node had read its greeting, which is skipped then: what follows must not be held against it.
TEST_F(connections, what_follows_an_unread_greeting_is_not_read_either) {
  connect(to_);
  const bytes payload(transport::readable_payload);
  to_.arriving.push_back({frame_header::reply(12345).encode(), payload});
  end(peer_end::connection_lost);
  EXPECT_TRUE(node_.failures.empty());
  EXPECT_EQ(who().state, peer_state::lost);
}

TEST_F(connections, the_node_is_told_of_each_loss_once) {
  connect(to_);
  end(peer_end::connection_lost);
  end(peer_end::connection_lost);
  ASSERT_EQ(node_.lost.size(), 1U);
  EXPECT_EQ(node_.lost[0].first, other);
  EXPECT_NE(node_.lost[0].second.find("its cable was cut"), std::string::npos) << node_.lost[0].second;
}

TEST_F(connections, this_node_is_never_lost) {
  end(peer_end::process_died, "nonsense", self);
  EXPECT_EQ(own_.state, peer_state::ready);
  EXPECT_TRUE(node_.lost.empty());
}

TEST_F(connections, nodes_that_are_not_known_are_not_lost) {
  end(peer_end::process_died, "nonsense", 7);
  EXPECT_FALSE(peers_.has(7));
}

TEST_F(connections, the_last_answers_of_a_peer_are_bounded_by_what_a_connection_holds) {
  connect(to_);
  who().hello_seen = true;
  const std::vector<std::byte> much(std::size_t{64} << 20);
  constexpr std::size_t more_than_it_holds = 40;
  for (std::size_t i = 0; i < more_than_it_holds; ++i)
    to_.arriving.push_back({{0, 1, detail::to_byte(wire_kind::call)}, much});
  end(peer_end::connection_lost);
  EXPECT_GT(to_.arriving.size(), 0U) << "somebody goes on writing, and is not read for ever";
  EXPECT_LT(to_.arriving.size(), more_than_it_holds / 2 + 5);
}

// ---- nodes that break the rules

TEST_F(connections, a_peer_that_breaks_the_rules_is_told_and_reported_once) {
  connect(to_);
  replies_.sent.clear();
  testing::internal::CaptureStderr();
  connections_.fail(who(), "nonsense");
  connections_.fail(who(), "more of it");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("nonsense"), std::string::npos) << said;
  EXPECT_EQ(said.find("more of it"), std::string::npos) << said;
  ASSERT_EQ(replies_.sent.size(), 1U);
  EXPECT_EQ(replies_.sent[0].head.kind(), wire_kind::goodbye);
  EXPECT_EQ(replies_.sent[0].bytes.size(), std::string("nonsense").size());
  ASSERT_TRUE(events_.pending());
  events_.handle_all([&](peer_event& what) { EXPECT_EQ(what.how, peer_end::connection_broken); }, [] {});
}

TEST_F(connections, when_the_node_ends_nothing_is_said_of_it) {
  connect(to_);
  node_.ends = true;
  testing::internal::CaptureStderr();
  connections_.fail(who(), "nonsense");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(events_.pending());
}

TEST_F(connections, one_that_is_to_fail_is_closed_before_it_is_greeted) {
  detail::fault_injector faults{self, base::parse_faults("2:connect:1;1:connect:1", "HERE"),
                                msg::handler_table::local()};
  detail::connections faulty{node_,
                             {own_, msg::handler_table::local(), peers_, transports_, idle_.waits, calls_, greetings_,
                              receiver_, replies_, events_, &faults}};
  peer_event what{&to_, -1, peer_end::none, {}};
  faulty.handle(what);
  EXPECT_EQ(who().state, peer_state::lost);
  EXPECT_NE(to_.closed_because.find("rule 1:connect:1"), std::string::npos) << to_.closed_because;
  ASSERT_EQ(node_.lost.size(), 1U);
  EXPECT_EQ(node_.hosts_lost, 0);
}

TEST_F(connections, a_rule_names_the_number_that_a_process_was_started_for) {
  detail::fault_injector faults{self, base::parse_faults("7:connect:1", "HERE"), msg::handler_table::local()};
  detail::connections faulty{node_,
                             {own_, msg::handler_table::local(), peers_, transports_, idle_.waits, calls_, greetings_,
                              receiver_, replies_, events_, &faults}};
  node_.number = 7;
  peer_event what{&to_, -1, peer_end::none, {}};
  faulty.handle(what);
  EXPECT_EQ(who().state, peer_state::lost);
}

/// Has the flight recorder of node 1, which was executing its call 77 of this node.
class recorded_transport final : public transport::transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "recorded"; }
  void connect(node_t) override {}
  [[nodiscard]] ham::transport::endpoint* poll(ham::transport::frame&, unsigned) override { return nullptr; }
  [[nodiscard]] bool arm() override { return true; }
  void disarm() noexcept override {}
  [[nodiscard]] int wake_fd() const noexcept override { return -1; }
  void wake() noexcept override {}
  void shutdown() noexcept override {}
  [[nodiscard]] std::vector<std::byte> recorded_by(node_t) const override {
    const auto area = std::make_unique<base::recorder_area>();
    area->head.magic = base::recorder_head::magic_value;
    area->head.node = other;
    area->rings[0].open[0] = base::recorded_event::make(base::recorded_kind::executing, 1, self, 12, 77);
    bytes copy(sizeof *area);
    std::memcpy(copy.data(), area.get(), copy.size());
    return copy;
  }
};

TEST_F(connections, of_a_node_that_has_died_its_last_events_are_told) {
  transports_.add(std::make_unique<recorded_transport>());
  connect(to_);
  call_slot& call = pending(0);
  testing::internal::CaptureStderr();
  end(peer_end::process_died, "its process was killed");
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("node 1 is lost: its process was killed; it was executing function 12"), std::string::npos)
      << line;
  const std::string text = failure_of(call).what();
  EXPECT_NE(text.find("; it was executing function 12"), std::string::npos) << text;
}

TEST_F(connections, of_a_node_whose_process_may_live_nothing_is_told) {
  transports_.add(std::make_unique<recorded_transport>());
  connect(to_);
  call_slot& call = pending(0);
  testing::internal::CaptureStderr();
  end(peer_end::connection_lost);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const std::string text = failure_of(call).what();
  EXPECT_EQ(text.find("executing"), std::string::npos) << text;
}

TEST(connections_of_a_target, the_loss_of_the_host_ends_it_unless_it_only_sent_nonsense) {
  test::idle_node idle;
  detail::peer_table peers(3);
  static_cast<void>(peers.claim(0));
  peer& own = *peers.claim(2);
  detail::self_endpoint own_end(2, [] {});
  detail::transport_set transports;
  test::recorded_replies replies;
  detail::ping_flow room(peers, own_end, replies);
  detail::call_table calls(nullptr, idle.waits);
  detail::continuation_runner continuations(nullptr, calls.due());
  node_of_connections node;
  detail::peer_events events(peers, idle.waits);
  detail::dispatcher dispatcher(
      node, {nullptr, 2, msg::handler_table::local(), peers, idle.waits, room, replies, continuations});
  detail::handshake greetings(own, msg::handler_table::local(), replies, idle.waits);
  detail::message_receiver receiver(node, {msg::handler_table::local(), dispatcher, calls, greetings});
  detail::connections all(node, {own, msg::handler_table::local(), peers, transports, idle.waits, calls, greetings,
                                 receiver, replies, events});
  idle.waits.lock();
  peer_event broken{nullptr, 0, peer_end::connection_broken, "nonsense"};
  all.handle(broken);
  EXPECT_EQ(node.hosts_lost, 0);
  peer_event lost{nullptr, 0, peer_end::connection_lost, "it hung up"};
  all.handle(lost);
  EXPECT_EQ(node.hosts_lost, 1);
  idle.waits.unlock();
}

}  // namespace connections_test
