// What calls, batches and futures ask of a node.
#include "runtime/engine.hpp"

namespace ham::detail {

void engine::settle_local(call_slot& slot, slot_state outcome) noexcept {
  waiter_.lock();
  calls_.settle(slot, outcome);
  waiter_.unlock();
  continuations_.run_settled();
}

void engine::settle_background(call_slot& slot, slot_state outcome) noexcept {
  if (settled_.add(slot, outcome)) {
    events_.announce();
    return;
  }
  waiter_.lock();
  calls_.settle(slot, outcome);
  waiter_.unlock();
  if (continuations_.due()) waiter_.wake();  // who sleeps next runs it first
}

void engine::attach(call_slot& slot, continuation* what) {
  if (calls_.attach(slot, what)) continuations_.run_settled();
}

// ---- the API's way in

namespace {

/// Futures may outlive their runtime; then everything has settled.
engine* owner_of(call_slot& slot) noexcept { return slot.owner; }

}  // namespace

call_slot* make_local_slot(engine& at) { return &at.calls().claim_local(at.self()); }

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
    at->calls().release(slot);
  else
    slot_table::release_left_over(slot);
}

bool abandon_slot(call_slot& slot) noexcept {
  engine* const at = owner_of(slot);
  return at != nullptr && at->calls().abandon(slot);
}

void attach(call_slot& slot, continuation* what) {
  if (slot.in_batch) slot_batch(slot)->submit(*slot_batch(slot));  // who waits for `what` cannot
  if (engine* at = owner_of(slot))
    at->attach(slot, what);
  else
    what->run(what);
}

// ---- sending

bool begin_call(engine& at, const destination& to, msg::handler_entry& function, std::size_t size,
                result_decoder decode, when_full policy, call_room& out) {
  return at.calls_out().begin(to, function, size, decode, policy, out);
}
void finish_call(engine& at, call_room& message) { at.calls_out().finish(message); }

batch_slot begin_batched(engine& at, node_t node, msg::handler_entry& function, result_decoder decode,
                         batch_owner& owner) {
  return at.calls_out().begin_batched(node, function, decode, owner);
}
void send_batch(engine& at, const destination& to, std::span<const std::byte> records, std::uint32_t count,
                std::span<call_slot* const> slots) {
  at.calls_out().send_batch(to, records, count, slots);
}

}  // namespace ham::detail
