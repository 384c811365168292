// Sending, as the API asks for it.
#include "runtime/engine.hpp"

namespace ham::detail {

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
