// Deadlines of calls: kept by time, expired by whoever makes progress.
#include <algorithm>
#include <functional>

#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

/// mutex_ is held. Its price is shared by as many calls with deadlines as it looks at.
void engine::forget_settled_deadlines() {
  std::erase_if(deadlines_, [this](const auto& one) {
    const call_slot* const slot = slots_.find(one.second);
    return slot == nullptr || slot->settled();
  });
  std::make_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
  most_deadlines_ = std::max<std::size_t>(64, 2 * deadlines_.size());
}

/// The call is on its way. Without memory for the heap it is found by a look at all slots when its time has come.
void engine::add_deadline(std::uint32_t call, std::int64_t deadline_ns) noexcept {
  std::lock_guard guard(mutex_);
  if (deadlines_.size() >= most_deadlines_) forget_settled_deadlines();
  try {
    deadlines_.emplace_back(deadline_ns, call);
    std::push_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
  } catch (const std::bad_alloc&) {
    unlisted_deadline_ = std::min(unlisted_deadline_, deadline_ns);
  }
  const std::int64_t next = earliest_deadline();
  const bool sooner = next < next_deadline_.load();
  next_deadline_.store(next);
  if (sooner) waiter_.wake_if_asleep();
}

/// mutex_ is held.
std::int64_t engine::earliest_deadline() const noexcept {
  return deadlines_.empty() ? unlisted_deadline_ : std::min(deadlines_.front().first, unlisted_deadline_);
}

/// All slots, for the sake of calls that are not in the heap. The receiving lock is held.
void engine::expire_unlisted(std::int64_t now) noexcept {
  {
    std::lock_guard guard(mutex_);
    if (now < unlisted_deadline_) return;
    unlisted_deadline_ = base::never_ns;
  }
  std::int64_t next = base::never_ns;
  slots_.for_each([&](call_slot& slot) {
    if (!slot.reply_due.load(std::memory_order_acquire) || slot.deadline_ns == 0) return;
    if (slot.deadline_ns > now)
      next = std::min(next, slot.deadline_ns);
    else
      expire(slot.id.load(std::memory_order_relaxed), now);
  });
  std::lock_guard guard(mutex_);
  unlisted_deadline_ = std::min(unlisted_deadline_, next);
}

void engine::expire_deadlines(std::int64_t now) {
  if (!waiter_.try_lock()) return;
  expire_unlisted(now);
  for (;;) {
    std::uint32_t due = 0;
    {
      std::lock_guard guard(mutex_);
      const bool any = !deadlines_.empty() && deadlines_.front().first <= now;
      if (!any) {
        next_deadline_.store(earliest_deadline());
        break;
      }
      due = deadlines_.front().second;
      std::pop_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
      deadlines_.pop_back();
    }
    expire(due, now);
  }
  finish_progress();
}

void engine::expire(std::uint32_t call, std::int64_t now) noexcept {
  call_slot* const slot = slots_.find(call);
  if (slot == nullptr || slot->state.load() != slot_state::pending) return;
  // Detached: the late reply will free it. Another deadline: the id was used again since.
  if (slot->orphan || slot->deadline_ns == 0 || slot->deadline_ns > now) return;
  std::exception_ptr why;
  try {
    if (slot->function != nullptr && peers_.has(slot->node) && withdraw_call(peers_[slot->node], call)) {
      slot->reply_due = false;
      why = missed_call(slot->node, *slot->function);
    } else {
      const std::string function =
          slot->function != nullptr ? table_->pretty_name(slot->function->key()) : std::string("a call");
      why = std::make_exception_ptr(
          deadline_exceeded(function + " on node " + std::to_string(slot->node) +
                                " did not answer before its deadline (it may still run; its result will be dropped)",
                            call_outcome::may_have_run));
    }
  } catch (const std::bad_alloc&) {
    why = std::current_exception();
  }
  fail(*slot, std::move(why));
}

/// Takes a call back that waits in the outbox, of which nothing has left.
bool engine::withdraw_call(peer& to, std::uint32_t call) noexcept {
  to.sending.lock();
  const auto found = std::find_if(to.outbox.begin(), to.outbox.end(), [call](const transport::outbound& one) {
    return (one.head.kind & ~in_context) == to_byte(wire_kind::call) && one.head.call == call;
  });
  const bool withdrawn = found != to.outbox.end() && withdraw(to, found->stream);
  to.sending.unlock();
  return withdrawn;
}

std::exception_ptr engine::missed_call(node_t node, const msg::handler_entry& function) const noexcept {
  try {
    return std::make_exception_ptr(
        deadline_exceeded(table_->pretty_name(function.key()) + " has not run on node " + std::to_string(node) +
                              " (its deadline passed while the queue to that node was full); allow more time, or call "
                              "less at once",
                          call_outcome::not_run));
  } catch (const std::bad_alloc&) {
    return std::current_exception();
  }
}

}  // namespace ham::detail
