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
    if (slot.function != nullptr && peers_.has(slot.node) && peers_[slot.node].withdraw_call(slot.id)) {
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

/// The deadline of a call passed before there was room for it. A call without a future of its own throws.
call_slot* engine::missed(node_t node, msg::handler_entry& function, result_decoder decode) {
  std::exception_ptr why = missed_call(node, function);
  if (decode == nullptr) std::rethrow_exception(why);
  call_slot& slot = calls_.claim_local(self_);
  fail_unsent(slot, std::move(why));
  return &slot;
}

/// Polls, and waits until pings are welcome at the node; throws if they are not until the deadline.
void engine::admit_ping(peer& who, const destination& to, msg::handler_entry& function) {
  who.pings.renew();
  progress();
  for (room_wait pause; flow_.holds(who);) {
    if (who.node == self_ && flow_.waits_for_calls(who) && contexts::on_context_thread()) {
      throw call_error("too many calls wait on node " + std::to_string(self_) +
                       ", and a context that waited for its own node here might wait for itself; wait for some first");
    }
    if (who.state.load(std::memory_order_acquire) == peer_state::lost)
      throw_lost(who, &function, call_outcome::not_run);
    if (to.deadline_ns != 0 && base::now_ns() >= to.deadline_ns) std::rethrow_exception(missed_call(to.node, function));
    make_room(pause);
  }
}

}  // namespace ham::detail
