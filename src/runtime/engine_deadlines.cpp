// What becomes of calls whose deadline has passed.
#include "runtime/engine.hpp"

namespace ham::detail {

void engine::expire_deadlines(std::int64_t now) {
  if (!waiter_.try_lock()) return;
  calls_.expire(now, [this](call_slot& slot) { expire(slot); });
  finish_progress();
}

void engine::expire(call_slot& slot) noexcept {
  std::exception_ptr why;
  try {
    if (slot.function != nullptr && peers_.has(slot.node) && withdraw_call(peers_[slot.node], slot.id)) {
      slot.reply_due = false;
      why = missed_call(slot.node, *slot.function);
    } else {
      const std::string function =
          slot.function != nullptr ? table_->pretty_name(slot.function->key()) : std::string("a call");
      why = std::make_exception_ptr(
          deadline_exceeded(function + " on node " + std::to_string(slot.node) +
                                " did not answer before its deadline (it may still run; its result will be dropped)",
                            call_outcome::may_have_run));
    }
  } catch (const std::bad_alloc&) {
    why = std::current_exception();
  }
  calls_.fail(slot, std::move(why));
}

/// Takes a call back that waits in the outbox, of which nothing has left.
bool engine::withdraw_call(peer& to, std::uint32_t call) noexcept {
  to.sending.lock();
  const bool withdrawn = to.discount(to.unsent.withdraw_call(call));
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
