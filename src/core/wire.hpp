// Kinds of frames and the first words that nodes exchange (docs/wire-format.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ham::detail {

enum class wire_kind : std::uint8_t {
  call = 1,
  reply,
  reply_error,
  fragment,
  batch,
  batch_reply,
  hello,
  manifest,
  goodbye,
  notice,  ///< words between the jobs of two nodes
  flow,    ///< whether pings are welcome: one byte, 1: not now
};

/// Set beside call and batch: the payload begins with the number of a context.
inline constexpr std::uint8_t in_context = 0x40;
/// Call id of a call that wants no reply.
inline constexpr std::uint32_t no_reply = 0xffffffff;
/// In front of each call of a batch: key, call id, size.
inline constexpr std::size_t record_head_bytes = 12;
inline constexpr std::uint32_t hello_magic = 0x314d4148;  // "HAM1"
inline constexpr std::uint32_t protocol_version = 4;

[[nodiscard]] constexpr std::uint8_t to_byte(wire_kind kind) noexcept { return static_cast<std::uint8_t>(kind); }

}  // namespace ham::detail
