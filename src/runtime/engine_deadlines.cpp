// What becomes of calls whose deadline has passed.
#include "core/deadline_errors.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

void engine::expire_deadlines(std::int64_t now) {
  if (!waiter_.try_lock()) return;
  calls_.expire(now, [this](call_slot& slot) { expire(slot); });
  finish_progress();
}

void engine::expire(call_slot& slot) noexcept {
  const bool withdrawn = slot.function != nullptr && peers_.has(slot.node) && peers_[slot.node].withdraw_call(slot.id);
  if (withdrawn) slot.reply_due = false;
  calls_.fail(slot, withdrawn ? missed_call(*table_, slot.node, *slot.function)
                              : unanswered_call(*table_, slot.node, slot.function));
}

}  // namespace ham::detail
