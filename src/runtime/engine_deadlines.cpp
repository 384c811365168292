// What becomes of calls whose deadline has passed.
#include "core/deadline_errors.hpp"
#include "ham/offload/detail/late_answer.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

void engine::expire_deadlines(std::int64_t now) {
  if (!waits.try_lock()) return;
  waits.rouse();
  calls.expire(now, settling_alone_with(), [this](call_slot& slot) { expire(slot); });
  losses.expire(now);
  numbers.expire(now);
  while (const auto late = faults.take_due(now)) {
    if (peers.has(late->from)) receiver_.receive_held(peers[late->from], *late);
  }
  finish_progress();
}

void engine::expire(call_slot& slot) noexcept {
  if (slot.function == nullptr && graphs.expire(slot)) return;
  if (slot.function == nullptr) {  // of a transfer, which ends it itself while some of it is being moved
    const auto [what, begun] = memory.transfers().take_expired(slot);
    if (what != nullptr) calls.fail(slot, what->late(begun));
    return;
  }
  const bool withdrawn = slot.function != nullptr && peers.has(slot.node) && peers[slot.node].withdraw_call(slot.id);
  if (withdrawn)
    slot.reply_due = false;
  else if (peers.has(slot.node) && !slot.function->always_runs())
    send_stop(peers[slot.node], slot.id);
  report_missed(slot);
  calls.fail(slot, withdrawn ? missed_call(*table_, slot.node, *slot.function)
                             : unanswered_call(*table_, slot.node, slot.function));
}

/// The receiving lock is held.
void engine::report_missed(const call_slot& slot) noexcept {
  if (!reports.wanted()) return;
  try {
    reports.add(offload::event_kind::deadline_missed, slot.node, table_->pretty_name(slot.function->key()));
  } catch (const std::bad_alloc&) {
    reports.add(offload::event_kind::deadline_missed, slot.node);
  }
}

bool keep_beyond_deadline(call_slot& slot) noexcept {
  engine* const at = slot.owner;
  if (at == nullptr) return false;
  at->waits.lock();
  const bool pending = !slot.settled();
  if (pending) slot.deadline_ns = 0;
  at->waits.unlock();
  return pending;
}

void throw_given_back(node_t to, const msg::handler_entry* function) {
  const node_t node = without_exact_bit(to);
  const std::string name =
      function == nullptr ? std::string("a call") : msg::handler_table::local().pretty_name(function->key());
  throw deadline_exceeded(name + " on node " + std::to_string(node) +
                              " did not answer before its deadline (it may still run; what it makes is given back when "
                              "it answers)",
                          call_outcome::may_have_run);
}

}  // namespace ham::detail
