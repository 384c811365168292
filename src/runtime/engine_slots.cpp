// What calls, batches and futures ask of a node.
#include "core/unobserved.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

void settle_background(engine& at, call_slot& slot, slot_state outcome) noexcept {
  if (at.settled.add(slot, outcome)) {
    at.events.announce();
    return;
  }
  at.waits.lock();
  at.calls.settle(slot, outcome);
  at.waits.unlock();
  if (at.continuations.due()) at.waits.wake();  // who sleeps next runs it first
}

/// A future that is shared may be waited for by another thread, which takes the reply alone.
bool engine::attach(call_slot& slot, continuation* what) noexcept {
  return calls.attach(slot, what, settling_alone_with());
}

// ---- the API's way in

namespace {

/// Futures may outlive their runtime; then everything has settled.
engine* owner_of(call_slot& slot) noexcept { return slot.owner; }

}  // namespace

call_slot* make_local_slot(engine& at) { return &at.calls.claim_local(at.self()); }

void settle_local(call_slot& slot, slot_state outcome) noexcept {
  engine* const at = owner_of(slot);
  if (at == nullptr) {
    slot.state.store(outcome, std::memory_order_release);
    return;
  }
  at->waits.lock();
  at->calls.settle(slot, outcome);
  at->waits.unlock();
  at->continuations.run_settled();
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
    at->calls.release(slot);
  else
    slot_table::release_left_over(slot);
}

bool abandon_slot(call_slot& slot) noexcept {
  engine* const at = owner_of(slot);
  return at != nullptr && at->calls.abandon(slot);
}

bool abandon_quietly(call_slot& slot) noexcept {
  engine* const at = owner_of(slot);
  return at != nullptr && at->calls.abandon(slot, errors_told::no);
}

void drop_failure(call_slot& slot) noexcept {
  const engine* const at = owner_of(slot);
  if (slot.state.load(std::memory_order_relaxed) == slot_state::failed)
    report_slot(slot, at == nullptr ? -1 : at->self(), at == nullptr || at->is_ending());
  slot_error(slot).~exception_ptr();
  release_slot(slot);
}

void attach(call_slot& slot, continuation* what) {
  if (slot.in_batch) slot_batch(slot)->submit(*slot_batch(slot));  // who waits for `what` cannot
  engine* const at = owner_of(slot);
  if (at == nullptr)
    what->run(what);
  else if (at->attach(slot, what))
    at->continuations.run_settled();
}

// ---- sending

bool begin_call(engine& at, const call_place& to, msg::handler_entry& function, std::size_t size, result_decoder decode,
                when_full policy, call_room& out) {
  return at.calls_out.begin(to, function, size, decode, policy, out);
}
void finish_call(engine& at, call_room& message) { at.calls_out.finish(message); }

batch_slot begin_batched(engine& at, const destination& to, msg::handler_entry& function, std::size_t size,
                         result_decoder decode, batch_owner& owner) {
  if (size > UINT32_MAX) [[unlikely]]
    throw call_error("a call of a batch takes " + std::to_string(size) +
                         " bytes of arguments (less than 4 GiB are allowed); call it alone",
                     call_error_reason::too_long);
  return at.batches_out.begin_batched(to, function, decode, owner);
}
void send_batch(engine& at, const destination& to, std::span<const std::byte> records, std::uint32_t count,
                std::span<call_slot* const> slots) {
  at.batches_out.send(to, records, count, slots);
}

}  // namespace ham::detail
