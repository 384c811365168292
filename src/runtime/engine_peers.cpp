// Nodes that are needed, and what transports report of them.
#include <signal.h>

#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

peer_hold engine::peer_for(node_t node) {
  if (peer_hold who = peers.hold(node)) [[likely]]
    return who;
  if (node < 0 || static_cast<std::size_t>(node) >= peers.size()) {
    throw call_error("there is no node " + std::to_string(node) + " (this job has nodes 0 to " +
                         std::to_string(peers.size() - 1) + ") ask for more with HAM_NODES or --ham-nodes",
                     call_error_reason::no_such_node);
  }
  peer_hold claimed;
  locked([&] {
    if (peer* const one = peers.claim(node)) claimed = peer_hold(*one);
  });
  if (claimed) return claimed;
  node_failure::details details;
  details.node = node;
  details.outcome = call_outcome::not_run;
  throw node_failure("node " + std::to_string(node) + " failed: it has left the job", std::move(details));
}

/// A number that another node has passed on may arrive before the host's word of a new node.
void engine::learn_of(node_t node) {
  constexpr std::int64_t timeout_ns = 5'000'000'000;
  const auto known = [&] { return static_cast<std::size_t>(node) < peers.size(); };
  if (node < 0 || known() || owner == nullptr || stop_.load() || leaving_.load()) return;
  const std::uint32_t number = owner->ask_for_nodes();
  if (number == 0) return;
  wait_until([&] { return known() || owner->has_answered(number) || stop_.load(); }, base::now_ns() + timeout_ns);
}

/// The peer, once it is connected and greeted.
peer_hold engine::make_ready(node_t node) {
  learn_of(node);
  peer_hold who = peer_for(node);
  peer_state expected = peer_state::unknown;
  std::int64_t until_ns = base::never_ns;
  // When the job ends, destructors of objects may still call; who has left answers nobody.
  const bool ends = stop_.load() || leaving_.load();
  if (ends) until_ns = base::now_ns() + 500'000'000;
  if (who->state.compare_exchange_strong(expected, peer_state::connecting)) {
    if (ends)
      events.on_lost(node, "the job has ended");
    else
      until_ns = connect(node);
  }
  if (!await_greeting(*who, until_ns)) events.on_lost(node, "it did not connect in time; look at its output");
  await_greeting(*who, base::never_ns);
  if (who->state.load() == peer_state::lost) throw_lost(*who, nullptr, call_outcome::not_run);
  return who;
}

/// Until when the node is to greet.
std::int64_t engine::connect(node_t node) {
  try {
    if (owner != nullptr) {
      wait_until([&] { return owner->knows_way(node) || stop_.load(); }, base::never_ns);
      if (const node_t hop = ways.hop_to(node); hop != node && hop != self_) static_cast<void>(peer_of(hop));
      return owner->connect(node);
    }
    transports_.connect(node);
  } catch (const std::exception& problem) {
    events.report_lost(node, problem);
  }
  return base::never_ns;
}

void engine::connect_through_others(node_t node) {
  locked([&] { relay().connect(node); });
}

/// The receiving lock is held.
relay_transport& engine::relay() {
  if (relay_ == nullptr) {
    auto made = std::make_unique<relay_transport>(self_, ways, peers, replies, events);
    relay_transport* const kept = made.get();
    adopt(std::move(made));
    relay_ = kept;
  }
  return *relay_;
}

/// The receiving lock is held. Of ranks, which are not connected with each other from the start.
void engine::approach(node_t neighbour) noexcept {
  if (self_ == 0 || neighbour == 0 || owner == nullptr) return;
  try {
    if (peers.expect(neighbour)) owner->connect(neighbour);
  } catch (const std::exception& problem) {
    events.report_lost(neighbour, problem);
  }
}

void engine::after_loss(node_t node, const std::string& why) noexcept {
  if (node == ends_with_.load(std::memory_order_acquire)) end();
  forwarder_.lose(node, why);
  try {
    if (relay_ != nullptr || ways.any_behind(node)) relay().lose_behind(node, why);
  } catch (const std::exception&) {  // no memory, or there can be no more transports: they were never met
    ways.for_each_behind(node, [&](node_t one) { events.on_lost(one, {}); });
  }
}

/// Whoever else has the receiving lock does it before it sleeps.
void engine::take_notice() {
  if (!waits.try_lock()) return;
  handle_events();
  finish_progress();
}

bool engine::handle_events() noexcept {
  waits.rouse();
  const bool any = events.handle_all([this](peer_event& one) { all_connections.handle(one); },
                                     [this] { calls.fail_unanswered(no_memory_); });
  return settled.settle_all([this](call_slot& slot, slot_state outcome) { calls.settle(slot, outcome); }) || any;
}

/// A process that this node has started itself, as the transport knows, not as the peer says. Others are only dropped.
bool engine::break_peer(peer& who, const base::fault_rule& by) {
  const std::int64_t process = transports_.peer_pid(who.node);
  const bool kill = by.action == base::fault_action::kill && process > 0;
  if (kill && ::kill(static_cast<pid_t>(process), SIGKILL) == 0) return false;
  events.report_end(who.node, peer_end::connection_lost, fault_injector::reason(by));
  return true;
}

void engine::part_with(node_t node, const std::string& reason, peer_end how) {
  const peer_hold who = peer_for(node);
  if (who->state.load() == peer_state::ready) replies.reply_with(*who, frame_header::of(wire_kind::goodbye), {});
  std::string why = reason;
  waits.lock();
  waits.rouse();
  all_connections.lose(*who, std::move(why), how);
  finish_progress();
}

}  // namespace ham::detail
