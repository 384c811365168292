// Slots become the peer's when the batch is built; once it is sent, they may settle and be other calls'.
#include "core/batch_sender.hpp"

#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/recorder.hpp"
#include "base/tracer.hpp"
#include "core/fault_injector.hpp"
#include "ham/error.hpp"
#include "ham/offload/detail/call_message.hpp"

namespace ham::inline v1::detail {

batch_slot batch_sender::begin_batched(const call_place& to, msg::handler_entry& function, result_decoder decode,
                                       batch_owner& owner) {
  call_sender::placed_function where;
  calls_out_.place(to, function, decode, where);
  call_slot& slot = calls_.claim();
  slot.decode = decode;
  slot.function = &function;
  slot.deadline_ns = 0;
  slot.position = static_cast<std::uint64_t>(where.process);  // whose the key is
  slot.node.store(self_, std::memory_order_release);          // not the peer's to fail before it is sent
  slot.in_batch = true;
  slot_batch(slot) = &owner;
  slot.fault = where.reply_fault & max_fault_mark;
  slot.state.store(slot_state::pending, std::memory_order_release);
  return {&slot, where.key};
}

/// A supervised number may have got another process since calls were put into the batch, of another program even.
void batch_sender::expect_owner_of_keys(const peer& who, std::span<call_slot* const> slots) {
  for (const call_slot* const slot : slots) {
    if (slot->position == static_cast<std::uint64_t>(who.node)) continue;
    node_failure::details details;
    details.node = static_cast<node_t>(slot->position);
    details.outcome = call_outcome::not_run;
    throw node_failure("node " + std::to_string(details.node) +
                           " failed before the batch was sent, and was started again; make the batch anew",
                       std::move(details));
  }
}

void batch_sender::send(const call_place& to, std::span<const std::byte> records, std::uint32_t count,
                        std::span<call_slot* const> slots) {
  call_room out;
  std::vector<std::uint32_t> ids;  // once it is sent, a slot may settle and be used again
  try {
    if (to.deadline_ns != 0) ids.reserve(slots.size());
    calls_out_.begin_batch(to, records.size(), out);
    reservation held(out);
    expect_owner_of_keys(*out.to, slots);
    static_cast<void>(held.release());
  } catch (...) {
    for (call_slot* slot : slots) {
      slot->in_batch = false;
      calls_out_.fail_unsent(*slot, std::current_exception());
    }
    return;
  }
  peer& who = *out.to;
  const node_t node = who.node;
  const std::uint64_t position = who.to->sent();
  for (call_slot* slot : slots) {
    slot->in_batch = false;
    slot->position = position;
    slot->deadline_ns = to.deadline_ns;
    slot->node.store(who.node, std::memory_order_release);
    slot->reply_due.store(true, std::memory_order_release);
  }
  std::memcpy(out.data, records.data(), records.size());
  if (to.deadline_ns != 0) {
    for (const call_slot* slot : slots) ids.push_back(slot->id);
  }
  if (base::tracing()) [[unlikely]]
    trace(who, slots, count);
  if (calls_out_.finish_batch(out, count)) {
    for (const std::uint32_t id : ids) calls_.add_deadline(id, to.deadline_ns);
    base::this_recorder.record(base::recorded_kind::sent_batch, node, msg::invalid_key, count);
  } else {
    for (const std::uint32_t id : ids) calls_out_.fail_withdrawn(id);
  }
}

/// Before it is sent: its slots may be other calls' afterwards.
void batch_sender::trace(const peer& to, std::span<call_slot* const> slots, std::uint32_t count) const {
  base::thread_tracer& tracer = base::this_tracer;
  const std::uint64_t sent = tracer.end_call();
  tracer.add_call(base::trace_kind::sent_batch, self_, to.node, msg::invalid_key, count, sent);
  const auto peer = base::trace_event::pair(static_cast<std::uint32_t>(to.node), 0);  // the batch has the bytes
  for (const call_slot* const slot : slots)
    tracer.add(self_, base::trace_event::make(base::trace_kind::sent, sent, sent, peer,
                                              base::trace_event::pair(slot->function->key(), slot->id)));
}

}  // namespace ham::detail
