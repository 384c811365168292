// Whether a call, or a batch of calls, is well-formed: nothing of a message runs unless all of it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/frame_header.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::detail {

[[noreturn]] void throw_no_function(std::uint32_t key);

/// The function of a key from a peer. Throws ham::protocol_error.
[[nodiscard]] inline const msg::handler_entry& callable_entry(const msg::handler_table& functions, std::uint32_t key) {
  const msg::handler_entry* const entry = functions.find(key);
  if (entry == nullptr || entry->kind != msg::handler_kind::call) [[unlikely]]
    throw_no_function(key);
  return *entry;
}

/// Throws ham::protocol_error, and nothing else.
void check_message(const msg::handler_table& functions, frame_header head, std::span<const std::byte> payload);

}  // namespace ham::detail
