// A sender of calls without an engine, for tests: the other node is an endpoint that takes what the test allows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "core/call_sender.hpp"
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

inline constexpr node_t self = 0;
inline constexpr node_t other = 1;
inline constexpr std::int64_t second_ns = 1'000'000'000;

class sending_node : public detail::sending_node {
 public:
  explicit sending_node(detail::peer_table& peers, test::idle_node& idle) : peers_(peers), idle_(idle) {}
  std::function<void()> on_progress = [] {};
  std::function<void(node_t)> on_make_ready = [](node_t) {};
  std::vector<std::string> broken;
  std::function<bool()> on_break = [] { return false; };
  int notices = 0, progresses = 0, long_messages = 0;

  bool late = false;
  detail::peer_hold make_ready(node_t node, const detail::wait_limit& limit) override {
    on_make_ready(node);
    return (late && limit.deadline_ns != 0) || limit.stopped() ? detail::peer_hold() : peers_.hold(node);
  }
  node_t process_for(const detail::call_place& to, const detail::wait_limit&) override {
    return replacement < 0 ? detail::without_exact_bit(to.node) : replacement;
  }
  node_t replacement = -1;  ///< of whoever is called and not ready
  void take_notice() override { ++notices; }
  std::function<void(node_t)> on_ask = [](node_t) {};
  std::function<void(std::int64_t)> on_ask_until = [](std::int64_t) {};
  void ask_for_functions(node_t node, std::int64_t deadline_ns) override {
    on_ask_until(deadline_ns);
    on_ask(node);
  }
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

inline void decode_nothing(call_slot&, msg::reader&) {}

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

/// Calls of `faulty_` suffer what rules say.
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

}  // namespace call_sender_test
