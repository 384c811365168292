// Calls that do not leave: what has become of them is told, and their slots fail.
#include <new>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "core/call_sender.hpp"
#include "core/deadline_errors.hpp"
#include "core/replacements.hpp"

namespace ham::inline v1::detail {

/// `function`: nullptr: any.
void call_sender::report(offload::event_kind what, node_t to, const msg::handler_entry* function) noexcept {
  if (of_.reports == nullptr || !of_.reports->wanted()) return;
  const node_t node = without_exact_bit(to);
  try {
    of_.reports->add(what, node, function == nullptr ? std::string() : of_.functions.pretty_name(function->key()));
  } catch (const std::bad_alloc&) {
    of_.reports->add(what, node);
  }
  of_.lock.wake();  // this thread may make no progress for a while
}

/// The deadline of a call passed before there was room for it. A call without a future of its own throws.
call_slot* call_sender::missed(node_t to, msg::handler_entry& function, result_decoder decode) {
  const node_t node = without_exact_bit(to);
  std::exception_ptr why = missed_call(of_.functions, node, function);
  report(offload::event_kind::deadline_missed, node, &function);
  if (decode == nullptr) std::rethrow_exception(why);
  call_slot& slot = of_.calls.claim_local(node);
  slot.function = &function;  // for people
  fail_unsent(slot, std::move(why));
  return &slot;
}

/// It is stopped, or who makes it. A call without a future of its own throws.
call_slot* call_sender::stopped(node_t to, msg::handler_entry& function, result_decoder decode) {
  const node_t node = without_exact_bit(to);
  std::exception_ptr why = stopped_call(of_.functions, node, &function, call_outcome::not_run);
  if (decode == nullptr) std::rethrow_exception(why);
  call_slot& slot = of_.calls.claim_local(node);
  slot.function = &function;
  fail_unsent(slot, std::move(why));
  return &slot;
}

void call_sender::fail_unsent(call_slot& slot, std::exception_ptr why) noexcept {
  of_.lock.lock();
  {
    const settling_alone nobody_else(of_.peers.at_place_of(slot.node.load(std::memory_order_acquire)));
    of_.calls.fail_unsent(slot, std::move(why));
  }
  node_.finish_progress();
}

/// Of a long call nothing has left: its deadline has passed, or it was stopped.
void call_sender::fail_withdrawn(call_slot& slot, bool late) noexcept {
  const node_t node = slot.node.load(std::memory_order_relaxed);
  if (late) report(offload::event_kind::deadline_missed, node, slot.function);
  fail_unsent(slot, late ? missed_call(of_.functions, node, *slot.function)
                         : stopped_call(of_.functions, node, slot.function, call_outcome::not_run));
}

/// Its slot may be another call's by now: its future let go, and then its node was lost.
void call_sender::fail_withdrawn(std::uint32_t call) noexcept {
  of_.lock.lock();
  if (call_slot* const slot = of_.calls.find(call)) {
    const settling_alone nobody_else(of_.peers.at_place_of(slot->node.load(std::memory_order_acquire)));
    if (!slot->settled() && slot->id.load(std::memory_order_relaxed) == call)
      of_.calls.fail_unsent(*slot, slot->orphan ? nullptr : missed_call(of_.functions, slot->node, *slot->function));
  }
  node_.finish_progress();
}

// ---- faults

/// True: the call is to be sent. False: as begin. Throws what begin may throw. `process`: that it would have gone to,
/// also where it is called by the number of one that has died, or by a handle.
bool call_sender::suffer(const base::fault_rule& rule, const request& what, node_t process, call_room& out) {
  const peer_hold who = of_.peers.hold(process);
  if (!who) return true;  // it has gone, as sending will tell
  if (rule.action == base::fault_action::fail) {
    std::exception_ptr why = of_.faults->failure(*who, what.function, 0, call_outcome::not_run, rule);
    if (what.decode == nullptr) std::rethrow_exception(why);
    out.slot = &of_.calls.claim_local(of_.self);
    fail_unsent(*out.slot, std::move(why));
    return false;
  }
  if (rule.action == base::fault_action::delay) {
    if (what.policy != when_full::wait) return false;  // as for a full queue
    const std::int64_t deadline = what.to.deadline_ns;
    const std::int64_t late = base::now_ns() + rule.delay_ns;
    const bool too_late = deadline != 0 && deadline < late;
    const std::int64_t until = too_late ? deadline : late;
    const auto is_stopped = [&] { return what.token != nullptr && what.token->stop_requested(); };
    for (room_wait pause; base::now_ns() < until && !is_stopped();) make_room(pause);
    if (is_stopped()) {
      out.slot = stopped(what.to.node, what.function, what.decode);
      return false;
    }
    if (too_late) out.slot = missed(what.to.node, what.function, what.decode);
    return !too_late;
  }
  if (!node_.break_peer(*who, rule)) return true;
  for (room_wait pause; who->state.load(std::memory_order_acquire) != peer_state::lost;) make_room(pause);
  return true;
}

}  // namespace ham::detail
