// Stopping calls: those of this node, and how a function that executes here learns that its caller wants it to stop.
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/process.hpp"
#include "base/process_end.hpp"
#include "core/deadline_errors.hpp"
#include "core/last_events.hpp"
#include "ham/offload/detail/reverse_calls.hpp"
#include "ham/offload/stop.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
// ---- calls of this node

bool engine::stop(call_slot& slot, offload::when_stopped how) noexcept {
  waits.lock();
  const bool asked = stop_locked(slot, slot.id.load(std::memory_order_relaxed), how);
  finish_progress();
  return asked;
}

void engine::stop_call(std::uint32_t call, std::optional<offload::when_stopped> how) noexcept {
  stop_if(call, how, nullptr);
}

void engine::stop_nested(const nested_call& call) noexcept { stop_if(call.id, std::nullopt, &call); }

/// `made`: only if it is still that call.
void engine::stop_if(std::uint32_t call, std::optional<offload::when_stopped> how, const nested_call* made) noexcept {
  held_replay replay;
  waits.lock();
  if (call_slot* const slot = calls.find(call)) {
    if (slot->function == nullptr && !slot->settled() && (made == nullptr || *made == nested_call::of(*slot)))
      replay = graphs.replay_of(*slot);
    stop_locked(*slot, call, how, made);
  }
  waits.unlock();
  if (replay) replay.of->announce_stop(replay.number);
  if (continuations.due()) waits.wake();  // who sleeps next runs them: the caller may be a function, or a stop callback
}

void engine::stop_nested_locked(const nested_call& call) noexcept {
  if (call_slot* const slot = calls.find(call.id)) stop_locked(*slot, call.id, std::nullopt, &call);
}

/// The calls to the first nodes of its parts.
bool engine::stop_group(const call_slot& future, offload::when_stopped how) noexcept {
  const group_parts_sent parts = groups.parts_of(future);
  bool asked = false;
  for (std::size_t i = 0; i < parts.count; ++i) {
    if (call_slot* const part = calls.find(parts.calls[i])) asked = stop_locked(*part, parts.calls[i], how) || asked;
  }
  return asked;
}

/// The call that it is now; it is not sent again.
bool engine::stop_repeated(const call_slot& future, offload::when_stopped how) noexcept {
  const std::optional<repeated_calls::attempt> now = repeated.stop(future, how);
  if (!now) return false;
  if (call_slot* const sent = now->call ? calls.find(*now->call) : nullptr) stop_locked(*sent, *now->call, how);
  return true;
}

/// Without `how`: a call of one that is stopped. It settles at once, unless it passes the message of a group on: then
/// its answer, which comes when the nodes behind have been stopped, says which of them have run.
bool engine::stop_locked(call_slot& slot, std::uint32_t call, std::optional<offload::when_stopped> how,
                         const nested_call* made) noexcept {
  const node_t node = slot.node.load(std::memory_order_acquire);
  const settling_alone nobody_else(peers.at_place_of(node));
  // In this order: while it is pending and that call's, it stays so.
  if (slot.settled() || slot.id.load(std::memory_order_relaxed) != call) return false;
  if (made != nullptr && *made != nested_call::of(slot)) return false;
  if (!slot.reply_due.load(std::memory_order_acquire)) {
    const offload::when_stopped parts = how.value_or(offload::when_stopped::at_once);
    return slot.function == nullptr && (graphs.stop(slot) || stop_group(slot, parts) || stop_repeated(slot, parts));
  }
  if (!peers.has(node)) return false;
  peer& to = peers[node];
  if (slot.orphan || slot.function == nullptr || slot.function->always_runs()) return false;
  if (to.withdraw_call(call)) {
    slot.reply_due = false;
    calls.fail(slot, stopped_call(*table_, node, slot.function, call_outcome::not_run));
    return true;
  }
  send_stop(to, call);
  if (!how) how = is_passed_on(slot) ? offload::when_stopped::after_answer : offload::when_stopped::at_once;
  if (how == offload::when_stopped::at_once)
    calls.fail(slot, stopped_call(*table_, node, slot.function, call_outcome::may_have_run));
  return true;
}

void engine::drop_message(std::uint32_t call) noexcept {
  waits.lock();
  if (call_slot* const slot = calls.find(call)) {
    const node_t node = slot->node.load(std::memory_order_acquire);
    const settling_alone nobody_else(peers.at_place_of(node));
    const bool is_it = !slot->settled() && slot->id.load(std::memory_order_relaxed) == call;
    if (is_it && slot->function != nullptr && slot->reply_due.load(std::memory_order_acquire) && peers.has(node)) {
      const bool withdrawn = peers[node].withdraw_call(call);
      if (withdrawn) slot->reply_due = false;
      calls.fail(*slot, stopped_call(*table_, node, slot->function,
                                     withdrawn ? call_outcome::not_run : call_outcome::may_have_run));
    }
  }
  waits.unlock();
  if (continuations.due()) waits.wake();
}

bool engine::kill(const call_slot& slot) {
  if (slot.function != nullptr) {
    kill_process_of(slot.node.load(std::memory_order_relaxed));
    return true;
  }
  if (!repeated_calls::is_one(slot))
    throw call_error(
        "no process can be ended for this future (it is of no single call, but of a group, a graph, a transfer, or "
        "then()); kill_call() takes the future of a call to a node");
  std::optional<node_t> process;
  locked([&] {
    const std::optional<repeated_calls::attempt> now = repeated.latest(slot);
    const call_slot* const sent = now && now->call ? calls.find(*now->call) : nullptr;
    if (sent == nullptr) return;
    const node_t node = sent->node.load(std::memory_order_acquire);
    const settling_alone nobody_else(peers.at_place_of(node));
    // In this order: while it is pending and that call's, it stays so.
    if (!sent->settled() && sent->id.load(std::memory_order_relaxed) == *now->call) process = node;
  });
  if (process) kill_process_of(*process);
  return process.has_value();
}

void engine::kill_process_of(node_t node) {
  if (owner == nullptr)
    throw call_error("the process of node " + std::to_string(node) + " cannot be ended by node " +
                     std::to_string(self_) +
                     " (it is this process, of which the nodes of this job are threads); use targets that are "
                     "processes, such as HAM_NODES=shm:1, or ask the call to stop by request_stop()");
  const auto process = static_cast<pid_t>(node == self_ ? -1 : transports_.peer_pid(node));
  if (!base::is_own_child(process)) {
    if (process > 0 && base::confirms_end(process, std::chrono::microseconds(0))) return;
    if (node != self_ && owner->ends_with_connection(node)) {
      events.report_end(node, peer_end::connection_lost, "its process was ended by kill_call");
      return;
    }
    throw call_error("the process of node " + std::to_string(node) + " cannot be ended by node " +
                     std::to_string(self_) +
                     " (only targets that this node itself has started on this machine, or reached over tcp and that "
                     "has no targets of its own, can); "
                     "remove_node, called by the host, ends others");
  }
  if (const int error = base::kill_child(process); error != 0)
    throw std::system_error(error, std::generic_category(),
                            "the process of node " + std::to_string(node) +
                                " cannot be killed (a filter forbids the system calls kill and pidfd_send_signal, or "
                                "it runs as another user); allow the system call kill, or remove the node");
}

void engine::end_hanging(node_t node, const std::string& why) noexcept {
  if (base::kill_if_own_child(static_cast<pid_t>(transports_.peer_pid(node)))) return;
  events.report_end(node, peer_end::connection_lost, why);
}

std::string engine::activity_of(node_t node) const { return last_events_of(node, transports_.recorded_by(node)).text; }

/// The receiving lock is held.
void engine::send_stop(peer& to, std::uint32_t call) noexcept {
  if (to.state.load(std::memory_order_acquire) != peer_state::ready) return;
  if (to.to != nullptr) to.to->announce_stop(call);
  replies.reply_with(to, frame_header::cancel(call), {});
}

void engine::drop_settled(std::vector<nested_call>& these) noexcept {
  std::erase_if(these, [this](const nested_call& call) {
    const call_slot* const slot = calls.find(call.id);
    return slot == nullptr || slot->settled();
  });
}

bool kill_call(call_slot& slot) {
  engine* const at = slot.owner;
  if (at == nullptr || slot.settled()) return false;
  return at->kill(slot);
}

bool request_stop(call_slot& slot, offload::when_stopped how) noexcept {
  engine* const at = slot.owner;
  return at != nullptr && at->stop(slot, how);
}

// ---- calls that execute here

/// The calling thread executes a function, and perhaps is the one that receives. What has arrived is taken, and begins
/// when it waits, or has ended. What waits for room in queues to other nodes leaves.
/// `all`: nothing else says whether the call is stopped, and it may be about to begin. So what another thread receives
/// right now is waited for.
void engine::receive_stops(bool all) noexcept {
  constexpr int some = 64;
  constexpr int most = 8192;       // twice the lines of a ring
  const engine_scope scope(this);  // a thread that the function has started is of no runtime
  if (all)
    waits.lock();
  else if (!waits.try_lock())
    return;
  waits.rouse();
  // What it waits for may depend on something that is still here: the stop of the call that has made it.
  if (peers.filled_outboxes().load(std::memory_order_relaxed) != 0) [[unlikely]]
    for (peer* const one : peers) one->flush_if_free();
  {
    const only_receiving begins_nothing;
    for (int i = 0; i < (all ? most : some) && !calls_in.backlog_fills(); ++i) {
      transport::frame frame;
      transport::endpoint* const from = next_frame(frame, 1);
      if (from == nullptr) break;
      receiver_.receive(*from, frame);
    }
  }
  waits.unlock();  // continuations that are due run when the function waits, or another thread does
}

// ---- a stop token that stops a call

struct stop_link::callback {
  std::uint64_t runtime;
  std::uint32_t call;
  offload::when_stopped how;
  void operator()() const noexcept {
    const held_engine at(runtime);
    if (at) at.stop_call(call, how);
  }
};

struct stop_link::linked : continuation {
  linked(const std::stop_token& token, callback what) : on_stop(token, what) {}
  std::stop_callback<callback> on_stop;
};

void stop_link::attach(call_slot& slot, const std::stop_token& token, offload::when_stopped how) {
  engine* const at = slot.owner;
  if (at == nullptr || slot.settled() || !token.stop_possible()) return;
  auto* const link = new linked(token, {at->serial, slot.id.load(std::memory_order_relaxed), how});
  link->run = [](continuation* self) { delete static_cast<linked*>(self); };
  detail::attach(slot, link);
}

call_slot* stop_link::stopped_slot(engine& at, node_t to) {
  const node_t node = without_exact_bit(to);
  call_slot& slot = at.calls.claim_local(node);
  fail_local(slot, stopped_call(msg::handler_table::local(), node, nullptr, call_outcome::not_run));
  return &slot;
}

void held_engine::stop_call(std::uint32_t call, offload::when_stopped how) const noexcept { at_->stop_call(call, how); }

stop_shield::stop_shield() noexcept
    : before_(std::exchange(this_thread.stop, nullptr)),
      depth_(std::exchange(this_thread.stop_depth, this_thread.depth)),
      owned_(std::exchange(this_thread.owned_depth, thread_state::no_depth)) {}
stop_shield::~stop_shield() {
  this_thread.owned_depth = owned_;
  this_thread.stop = before_;
  this_thread.stop_depth = depth_;
}

}  // namespace ham::detail

namespace ham::inline v1::this_call {

call_stop_token stop_token() {
  detail::call_stop* const stop = detail::this_thread.innermost_stop();
  return stop == nullptr ? call_stop_token() : call_stop_token(stop->shared_from_this());
}

std::chrono::steady_clock::time_point deadline() noexcept {
  using clock = std::chrono::steady_clock;
  const detail::call_stop* const stop = detail::this_thread.innermost_stop();
  if (stop == nullptr || stop->deadline_ns() == base::never_ns) return clock::time_point::max();
  return clock::time_point(std::chrono::duration_cast<clock::duration>(std::chrono::nanoseconds(stop->deadline_ns())));
}

}  // namespace ham::this_call
