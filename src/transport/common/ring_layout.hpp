// What two nodes share for one direction of frames: lines of 64 bytes with the arrival flag inside, and two counters.
//
// Fixed-width little-endian fields only: the two sides may be of different instruction sets (docs/wire-format.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::transport {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t head_bytes = 16;
inline constexpr std::size_t first_line_payload = line_bytes - head_bytes;  // readable_payload of the contract

/// First 16 bytes of a frame. `stamp` is written last and says in which lap of the ring the line was written. All words
/// are atomic: a hostile sender may rewrite them at any time, and what was checked must be what is used.
struct line_head {
  std::atomic<std::uint32_t> stamp;
  std::atomic<std::uint32_t> key;  ///< the handler key, mixed with the epoch of the connection
  std::atomic<std::uint32_t> call;
  std::atomic<std::uint32_t> size_and_kind;  ///< size in the low 24 bits, kind above
};
static_assert(sizeof(line_head) == head_bytes && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(offsetof(line_head, key) == 4 && offsetof(line_head, call) == 8);
static_assert(offsetof(line_head, size_and_kind) == 12);

inline constexpr std::uint8_t pad_kind = 0;      ///< the rest of the lap is unused
inline constexpr std::uint8_t long_flag = 0x80;  ///< beside a kind: the payload tells where the message is
inline constexpr std::uint32_t size_mask = 0x00ffffff;

/// Counters of one direction. The receiver writes the first line at every frame and the second one rarely.
struct ring_control {
  alignas(line_bytes) std::atomic<std::uint64_t> taken;  ///< lines of frames that the receiver has begun to handle
  std::atomic<std::uint64_t> released;                   ///< lines that may be written again
  alignas(line_bytes) std::atomic<std::uint32_t> armed;  ///< the receiver does not look: ring its bell after a send
  std::atomic<std::uint32_t> takes_long;                 ///< the receiver has mapped the area for long messages
};
static_assert(sizeof(ring_control) == 2 * line_bytes && offsetof(ring_control, released) == 8);
static_assert(offsetof(ring_control, armed) == line_bytes && offsetof(ring_control, takes_long) == line_bytes + 4);

/// Number of lines of a frame with `size` bytes of payload.
[[nodiscard]] constexpr std::uint64_t lines_of(std::size_t size) noexcept {
  return size <= first_line_payload ? 1 : 1 + (size - first_line_payload + line_bytes - 1) / line_bytes;
}

/// The stamp of a line at absolute position `position` in a ring of `lines` lines: never zero, never last lap's.
[[nodiscard]] constexpr std::uint32_t stamp_of(std::uint64_t position, unsigned lines_log2) noexcept {
  return 0x80000000U | static_cast<std::uint32_t>(position >> lines_log2);
}

}  // namespace ham::transport
