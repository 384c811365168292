// What becomes of calls whose deadline has passed.
#include "core/deadline_errors.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

void engine::expire_deadlines(std::int64_t now) {
  if (!waits.try_lock()) return;
  waits.rouse();
  calls.expire(now, [this](call_slot& slot) { expire(slot); });
  while (const auto late = faults.take_due(now)) {
    if (peers.has(late->from)) receiver_.receive_held(peers[late->from], *late);
  }
  finish_progress();
}

void engine::expire(call_slot& slot) noexcept {
  const bool withdrawn = slot.function != nullptr && peers.has(slot.node) && peers[slot.node].withdraw_call(slot.id);
  if (withdrawn) slot.reply_due = false;
  calls.fail(slot, withdrawn ? missed_call(*table_, slot.node, *slot.function)
                             : unanswered_call(*table_, slot.node, slot.function));
}

}  // namespace ham::detail
