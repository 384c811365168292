// How pending calls settle.
#include "core/call_table.hpp"

#include <mutex>
#include <new>

namespace ham::inline v1::detail {

void call_table::throw_full() {
  throw call_error("a million calls are pending on this node; read some of their results first",
                   call_error_reason::too_many_calls);
}

void call_table::throw_no_call() { throw protocol_error("a reply to no call"); }

call_slot& call_table::claim_local(node_t self) {
  call_slot& slot = claim();
  slot.node.store(self, std::memory_order_release);
  slot.function = nullptr;
  slot.decode = nullptr;
  slot.deadline_ns = 0;
  slot.position = 0;
  slot.state.store(slot_state::pending, std::memory_order_release);
  return slot;
}

void call_table::release(call_slot& slot) noexcept {
  if (!slot.reply_due.load(std::memory_order_acquire)) [[likely]] {
    slots_.release(slot);
    return;
  }
  std::lock_guard guard(waiter_);
  if (slot.reply_due)
    slot.orphan = true;
  else
    slots_.release(slot);
}

bool call_table::abandon(call_slot& slot, errors_told tell) noexcept {
  std::lock_guard guard(waiter_);
  const bool pending = slot.state.load(std::memory_order_relaxed) == slot_state::pending && slot.function != nullptr &&
                       slot.then == nullptr;
  if (pending) {
    slot.orphan = true;
    slot.decode = nullptr;
    if (tell == errors_told::no) slot.function = nullptr;
  }
  return pending;
}

/// False: it has settled.
bool call_table::add_continuation(call_slot& slot, continuation* what) noexcept {
  if (slot.state.load(std::memory_order_relaxed) != slot_state::pending) return false;
  what->next = slot.then;
  slot.then = what;
  return true;
}

void call_table::add_deadline(std::uint32_t call, std::int64_t deadline_ns) noexcept {
  const auto is_over = [this](std::uint32_t listed) {
    const call_slot* const slot = slots_.find(listed);
    return slot == nullptr || slot->settled();
  };
  if (deadlines_.add(call, deadline_ns, is_over)) waiter_.wake_if_asleep();
}

void call_table::mark_unanswered(std::uint32_t call) noexcept {
  if (call_slot* const slot = slots_.find(call)) slot->unanswered.store(true);
}

void call_table::fail(call_slot& slot, std::exception_ptr why) noexcept {
  if (slot.orphan) {  // nobody asks any more; with its deadline passed it still waits for the late reply
    if (why != nullptr && is_abandoned(slot)) report_unobserved(slot, std::move(why));
    if (!slot.reply_due) slots_.release(slot);
    return;
  }
  ::new (static_cast<void*>(slot.storage)) std::exception_ptr(std::move(why));
  settle(slot, slot_state::failed);
}

void call_table::fail_unsent(call_slot& slot, std::exception_ptr why) noexcept {
  if (slot.state.load(std::memory_order_relaxed) != slot_state::pending) return;  // its node was lost meanwhile
  slot.reply_due = false;
  fail(slot, std::move(why));
}

call_slot* call_table::find_faulty(std::uint32_t call) const noexcept {
  call_slot* const slot = slots_.find(call);
  const bool faulty = slot != nullptr && slot->fault != 0 && !slot->orphan && !slot->settled();
  return faulty && slot->reply_due.load(std::memory_order_acquire) ? slot : nullptr;
}

bool call_table::awaits(std::uint32_t call, node_t node) const noexcept {
  const call_slot* const slot = slots_.at_index_of(call);
  return slot != nullptr && slot->reply_due.load(std::memory_order_acquire) &&
         slot->id.load(std::memory_order_relaxed) == call && slot->node.load(std::memory_order_relaxed) == node;
}

const msg::handler_entry* call_table::abandoned(std::uint32_t call, node_t from) const noexcept {
  const call_slot* const slot = slots_.find(call);
  const bool due = slot != nullptr && slot->reply_due.load(std::memory_order_acquire) &&
                   slot->node.load(std::memory_order_relaxed) == from;
  return due && is_abandoned(*slot) ? slot->function : nullptr;
}

/// Without memory for it nothing is told.
void call_table::report_unobserved(node_t node, const msg::handler_entry& function, std::exception_ptr why) noexcept {
  if (unobserved_ == nullptr) return;
  if (continuation* const later = unobserved_(*owner_, node, function, std::move(why))) due_.push(later);
}

/// A reply has come, or never will, for which nobody waits.
void call_table::drop_reply(call_slot& slot) noexcept {
  if (slot.orphan)
    slots_.release(slot);
  else
    slot.reply_due.store(false, std::memory_order_release);  // its deadline passed; its holder may give it back now
}

call_slot* call_table::oldest_to(node_t node, bool (*left_out)(const call_slot&) noexcept) noexcept {
  call_slot* oldest = nullptr;
  slots_.for_each([&](call_slot& slot) {
    if (!slot.reply_due.load(std::memory_order_acquire) || slot.node.load(std::memory_order_relaxed) != node) return;
    if ((oldest == nullptr || slot.position < oldest->position) && !left_out(slot)) oldest = &slot;
  });
  return oldest;
}

void call_table::fail_unanswered(const std::exception_ptr& why) noexcept {
  slots_.for_each([&](call_slot& slot) {
    if (slot.unanswered.exchange(false) && slot.reply_due.load(std::memory_order_acquire))
      fail_awaited(slot, [&](call_slot&) { return why; });
  });
}

void call_table::detach_after_fork(const std::exception_ptr& why) noexcept {
  slots_.renew_lock();
  due_.renew();
  deadlines_.detach_after_fork();
  fail_pending([&](call_slot& slot) {
    if (slot.orphan) return std::exception_ptr();
    slot.then = nullptr;  // what follows has a slot of its own
    return why;
  });
}

}  // namespace ham::detail
