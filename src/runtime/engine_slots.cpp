// How pending calls settle. State changes happen under the receiving lock, so that a continuation is neither lost nor
// run twice.
#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

void engine::settle(call_slot& slot, slot_state outcome) noexcept {
  continuation* const then = std::exchange(slot.then, nullptr);
  slot.state.store(outcome, std::memory_order_release);  // from here on its future may give it back
  if (then != nullptr) [[unlikely]]
    ready_.push(then);
  waiter_.wake_finished();
}

void engine::fail(call_slot& slot, std::exception_ptr why) noexcept {
  if (slot.orphan) {  // nobody asks any more; with its deadline passed it still waits for the late reply
    if (!slot.reply_due) slots_.release(slot);
    return;
  }
  ::new (static_cast<void*>(slot.storage)) std::exception_ptr(std::move(why));
  settle(slot, slot_state::failed);
}

void engine::fail_unsent(call_slot& slot, std::exception_ptr why) noexcept {
  waiter_.lock();
  if (slot.state.load(std::memory_order_relaxed) == slot_state::pending) {  // else its node was lost meanwhile
    slot.reply_due = false;
    fail(slot, std::move(why));
  }
  finish_progress();
}

/// A call with a deadline was taken back from the queue to its node. Its slot may be another call's by now: its future
/// let go, and then its node was lost.
void engine::fail_withdrawn(std::uint32_t call) noexcept {
  waiter_.lock();
  call_slot* const slot = slots_.find(call);
  if (slot != nullptr && slot->state.load(std::memory_order_relaxed) == slot_state::pending) {
    slot->reply_due = false;
    fail(*slot, slot->orphan ? nullptr : missed_call(slot->node, *slot->function));
  }
  finish_progress();
}

call_slot* engine::claim_local() {
  call_slot* const slot = slots_.claim();
  if (slot == nullptr) throw call_error("a million calls are pending on this node; read some of their results first");
  slot->node.store(self_, std::memory_order_relaxed);
  slot->function = nullptr;
  slot->decode = nullptr;
  slot->deadline_ns = 0;
  slot->state.store(slot_state::pending, std::memory_order_release);
  return slot;
}

void engine::settle_local(call_slot& slot, slot_state outcome) noexcept {
  waiter_.lock();
  settle(slot, outcome);
  waiter_.unlock();
  run_settled();
}

void engine::release(call_slot& slot) noexcept {
  if (!slot.reply_due.load(std::memory_order_acquire)) [[likely]] {
    slots_.release(slot);
    return;
  }
  // It failed by its deadline: the slot waits for the late reply, so that this cannot be taken for another's.
  waiter_.lock();
  if (slot.reply_due)
    slot.orphan = true;
  else
    slots_.release(slot);
  waiter_.unlock();
}

bool engine::abandon(call_slot& slot) noexcept {
  waiter_.lock();
  const bool pending = slot.state.load(std::memory_order_relaxed) == slot_state::pending && slot.function != nullptr;
  if (pending) {
    slot.orphan = true;
    slot.decode = nullptr;
  }
  waiter_.unlock();
  return pending;
}

void engine::attach(call_slot& slot, continuation* what) {
  waiter_.lock();
  const bool pending = slot.state.load(std::memory_order_relaxed) == slot_state::pending;
  if (pending) {
    what->next = slot.then;
    slot.then = what;
  }
  waiter_.unlock();
  if (pending) return;
  ready_.push(what);
  run_settled();
}

// ---- the API's way in

namespace {

/// Futures may outlive their runtime; then everything has settled.
engine* owner_of(call_slot& slot) noexcept { return slot.owner; }

}  // namespace

call_slot* make_local_slot(engine& at) { return at.claim_local(); }

void settle_local(call_slot& slot, slot_state outcome) noexcept {
  if (engine* at = owner_of(slot))
    at->settle_local(slot, outcome);
  else
    slot.state.store(outcome, std::memory_order_release);
}

bool wait_slot(call_slot& slot, std::int64_t until_ns) {
  engine* const at = owner_of(slot);
  if (slot.in_batch) slot_batch(slot)->submit(*slot_batch(slot));
  return at == nullptr ? slot.settled() : at->wait(slot, until_ns);
}

void poll_slot(call_slot& slot) {
  if (slot.in_batch) slot_batch(slot)->submit(*slot_batch(slot));
  if (engine* at = owner_of(slot)) at->poll_once();
}

void release_slot(call_slot& slot) noexcept {
  if (engine* at = owner_of(slot))
    at->release(slot);
  else
    slot_table::release_left_over(slot);
}

bool abandon_slot(call_slot& slot) noexcept {
  engine* const at = owner_of(slot);
  return at != nullptr && at->abandon(slot);
}

void attach(call_slot& slot, continuation* what) {
  if (slot.in_batch) slot_batch(slot)->submit(*slot_batch(slot));  // who waits for `what` cannot
  if (engine* at = owner_of(slot))
    at->attach(slot, what);
  else
    what->run(what);
}

}  // namespace ham::detail
