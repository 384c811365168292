// How calls from peers are checked.
#include "core/message_check.hpp"

#include <string>

#include "core/batch_records.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {

void throw_no_function(std::uint32_t key) {
  throw protocol_error("a call with key " + std::to_string(key) + ", which names no function of this node");
}

void check_message(const msg::handler_table& functions, frame_header head, std::span<const std::byte> payload) {
  if (payload.size() < head.prefix_bytes())
    throw protocol_error(head.stoppable() ? "a call without the time that it has"
                                          : "a call in a context without its number");
  payload = payload.subspan(head.prefix_bytes());
  if (head.is_call()) {
    static_cast<void>(callable_entry(functions, head.key()));
    return;
  }
  for (std::uint32_t i = 0; i < head.calls(); ++i) {
    if (payload.size() < record_head_bytes) throw protocol_error("a batch is shorter than it says");
    const std::size_t size = word_at(payload, 8);
    static_cast<void>(callable_entry(functions, word_at(payload, 0)));
    if (word_at(payload, 4) == no_reply) throw protocol_error("a call of a batch that wants no reply");
    if (payload.size() - record_head_bytes < size) throw protocol_error("a call of a batch is longer than the batch");
    payload = payload.subspan(record_head_bytes + size);
  }
  if (!payload.empty() || head.calls() == 0) throw protocol_error("a batch is longer than its calls");
}

}  // namespace ham::detail
