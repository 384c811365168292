// Nodes that are needed, and what transports report of them.
#include <algorithm>

#include "base/clock.hpp"
#include "base/process.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
namespace {

/// How long a process that has said that it ends may take until its loss is noted; then it is not believed.
constexpr std::int64_t loss_timeout_ns = 10'000'000'000;

/// False: another thread, or the node itself, has begun.
bool begin_connecting(peer& to) noexcept {
  peer_state expected = peer_state::unknown;
  return to.state.compare_exchange_strong(expected, peer_state::connecting);
}

}  // namespace

peer_hold engine::peer_for(node_t node) {
  if (peer_hold who = peers.hold(node)) [[likely]]
    return who;
  if (node < 0 || static_cast<std::size_t>(node) >= peers.size()) {
    throw call_error("there is no node " + std::to_string(node) + " (this job has nodes 0 to " +
                         std::to_string(peers.size() - 1) + "); ask for more with HAM_NODES or --ham-nodes",
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

/// A number that another node has passed on may arrive before the host's word of a new node. False: it was not known
/// within the limit.
bool engine::learn_of(node_t node, const wait_limit& limit) {
  constexpr std::int64_t timeout_ns = 5'000'000'000;
  const auto known = [&] { return static_cast<std::size_t>(node) < peers.size(); };
  if (node < 0 || known() || owner == nullptr || stop_.load() || leaving_.load()) return true;
  const std::uint32_t number = owner->ask_for_nodes();
  if (number == 0) return true;
  return wait_within(
             limit, [&] { return known() || owner->has_answered(number) || stop_.load(); },
             base::now_ns() + timeout_ns) ||
         !limit.reached();
}

/// The peer, once it is connected and greeted.
peer_hold engine::make_ready(node_t node, const wait_limit& limit) {
  if (!learn_of(node, limit)) return {};
  peer_hold who = peer_for(node);
  const auto state = [&who] { return who->state.load(std::memory_order_acquire); };
  // When the job ends, destructors of objects may still call; who has left answers nobody.
  const bool ends = stop_.load() || leaving_.load();
  const std::int64_t end_ns = ends ? base::now_ns() + 500'000'000 : base::never_ns;
  while (state() != peer_state::ready && state() != peer_state::lost) {
    if (state() == peer_state::unknown) {
      if (!ends) {
        if (!connect(*who, limit)) return {};
      } else if (begin_connecting(*who)) {
        events.on_lost(node, "the job has ended");
      }
    }
    const std::int64_t greets_by_ns = std::min(end_ns, who->greets_by_ns.load());
    const std::int64_t again_ns = base::now_ns() + 1'000'000'000;  // another thread may learn meanwhile until when
    const auto decided = [&] { return state() != peer_state::connecting && state() != peer_state::greeting; };
    if (wait_within(limit, decided, std::min(greets_by_ns, again_ns))) continue;
    if (limit.reached()) return {};
    if (base::now_ns() < greets_by_ns) continue;
    events.on_lost(node, "it did not connect in time; look at its output");
    await_greeting(*who, base::never_ns);
  }
  if (state() == peer_state::lost) throw_lost(*who, nullptr, call_outcome::not_run);
  return who;
}

peer_hold engine::connected_peer(node_t node, const wait_limit& limit) {
  expect_no_other_process(node);
  peer_hold who = make_ready(node, limit);
  if (who) return who;
  if (!limit.late())
    throw operation_cancelled(
        "node " + std::to_string(node) + " was asked for nothing (a stop came before it was connected)",
        call_outcome::not_run);
  throw deadline_exceeded("node " + std::to_string(node) +
                              " was not connected before the deadline, and was asked for nothing; allow more time",
                          call_outcome::not_run);
}

/// False: the limit was reached before it was known how. Nobody connects until that is known: who waits for it executes
/// calls, which may need the node as well, and would wait for the one that they have interrupted.
bool engine::connect(peer& to, const wait_limit& limit) {
  const node_t node = to.node;
  const auto has_begun = [&to] { return to.state.load(std::memory_order_acquire) != peer_state::unknown; };
  const auto reach_hop = [&] {
    const node_t hop = ways.hop_to(node);
    return hop == node || hop == self_ || make_ready(hop, limit);
  };
  bool begins = false;
  try {
    if (owner != nullptr) {
      if (!wait_within(limit, [&] { return has_begun() || owner->knows_way(node) || stop_.load(); })) return false;
      if (!has_begun() && !reach_hop()) return false;
    }
    begins = begin_connecting(to);
    if (!begins) return true;
    if (owner != nullptr)
      to.greets_by_ns.store(owner->connect(node));
    else
      transports_.connect(node);
  } catch (const std::exception& problem) {
    if (begins || begin_connecting(to)) events.report_lost(node, problem);
  }
  return true;
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

void engine::after_loss(node_t node, const std::string& why, peer_end how) noexcept {
  if (!leaving_.load() && reports.wanted()) reports.add(offload::event_kind::lost, node, why, how == peer_end::left);
  if (node == ends_with_.load(std::memory_order_acquire)) end();
  if (owner != nullptr && !leaving_.load()) owner->on_lost(node, why);
  if (device_heap* const device = memory.device(); device != nullptr) device->forget_peer(node);
  forwarder_.lose(node, why);
  graphs.lose(node, why);
  try {
    if (relay_ != nullptr || ways.any_behind(node)) relay().lose_behind(node, why);
  } catch (const std::exception&) {  // no memory, or there can be no more transports: they were never met
    ways.for_each_behind(node, [&](node_t one) { events.on_lost(one, {}); });
  }
  losses.release(node);
}

bool engine::run_when_lost(node_t process, continuation* what, std::int64_t deadline_ns) noexcept {
  const std::int64_t too_late_ns = base::now_ns() + loss_timeout_ns;
  {
    const std::lock_guard guard(waits);  // a loss is noted, and the job told, under it
    if (process == self_ || is_ending() || !peers.has(process)) return false;
    if (peers[process].state.load(std::memory_order_acquire) == peer_state::lost) return false;
    try {
      losses.add(process, what, deadline_ns == 0 ? too_late_ns : std::min(too_late_ns, deadline_ns));
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  waits.wake_if_asleep();  // not later than then
  return true;
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
  const auto process = static_cast<pid_t>(transports_.peer_pid(who.node));
  if (by.action == base::fault_action::kill && base::kill_if_own_child(process)) return false;
  events.report_end(who.node, peer_end::connection_lost, fault_injector::reason(by));
  return true;
}

void engine::part_with(node_t node, const std::string& reason, peer_end how) {
  const peer_hold who = peer_for(node);
  std::string why = reason;
  waits.lock();  // before it is told: its own farewell is not to be taken for the reason
  waits.rouse();
  if (who->state.load() == peer_state::ready) replies.reply_with(*who, frame_header::of(wire_kind::goodbye), {});
  all_connections.lose(*who, std::move(why), how);
  finish_progress();
}

}  // namespace ham::detail
