// Execution of received active messages.
#include "ham/msg/active_msg_base.hpp"

#include <string>

#include "ham/error.hpp"
#include "ham/msg/names.hpp"

namespace ham::inline v1::msg {

namespace {

const handler_entry& message_handler(std::uint32_t key) {
  const handler_table& table = handler_table::local();
  const handler_entry* entry = table.find(key);
  if (entry != nullptr && entry->kind == handler_kind::message) [[likely]]
    return *entry;
  if (table.duplicate(key)) {
    throw protocol_error("cannot execute an active message: " + table.pretty_name(key) +
                         " names several handlers of this program; rename one of them");
  }
  throw protocol_error("cannot execute an active message: no message handler has key " + std::to_string(key) + " (" +
                       std::to_string(table.size()) + " handlers are known here)");
}

}  // namespace

void active_msg_base::operator()(void* buffer) const { message_handler(key()).handler(buffer); }

void active_msg_base::execute(void* buffer, std::size_t size_bytes) {
  if (size_bytes < sizeof(active_msg_base)) {
    throw protocol_error("cannot execute an active message: " + std::to_string(size_bytes) +
                         " bytes cannot even hold a handler key");
  }
  std::uint32_t key = 0;
  std::memcpy(&key, buffer, sizeof key);
  const handler_entry& entry = message_handler(key);
  if (size_bytes < entry.message_size) {
    throw protocol_error("cannot execute " + pretty_name(canonical_name(entry.type_name())) + ": it has " +
                         std::to_string(entry.message_size) + " bytes, only " + std::to_string(size_bytes) +
                         " arrived");
  }
  entry.handler(buffer);
}

void active_msg_base::throw_duplicate(const handler_entry& entry) {
  throw call_error("cannot make an active message: " + pretty_name(canonical_name(entry.type_name())) +
                       " names several types of this program (internal linkage in several files?); rename one of them",
                   call_error_reason::ambiguous_name);
}

}  // namespace ham::msg
