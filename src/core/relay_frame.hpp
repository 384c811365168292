// What a relayed frame is, for the host that passes it on and for the nodes at both ends (docs/wire-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/frame_header.hpp"
#include "core/wire.hpp"
#include "ham/error.hpp"
#include "ham/msg/wire.hpp"

namespace ham::detail {

/// Whether `what` is the kind of a frame, which `payload` can be. Else it is a credit or an end, or nothing.
[[nodiscard]] inline bool is_relayed_frame(std::uint32_t what, std::span<const std::byte> payload) noexcept {
  return what <= UINT8_MAX && what != to_byte(wire_kind::relay) &&
         frame_header::known({0, 0, static_cast<std::uint8_t>(what)}) && payload.size() >= relay_prefix_bytes;
}

/// What a frame takes of the window; `size`: of its payload behind the prefix.
[[nodiscard]] constexpr std::uint64_t relay_cost(std::size_t size) noexcept { return size + relay_frame_bytes; }

/// What the sender of a credit says that it has consumed. Throws ham::protocol_error.
[[nodiscard]] inline std::uint64_t consumed_of_credit(std::span<const std::byte> payload) {
  if (payload.size() != sizeof(std::uint64_t)) throw protocol_error("a credit of another size");
  return msg::reader(payload).number<std::uint64_t>();
}

}  // namespace ham::detail
