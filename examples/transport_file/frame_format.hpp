// What stands in a file: one word of the receiver, and behind it frames, one after another, never overwritten.
//
// Both sides are builds of one program for one machine: numbers have its byte order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"

namespace ham::inline v1::transport::file {

/// Where the receiver writes the position up to which it has begun to look at frames: 64 bits.
inline constexpr std::uint64_t consumed_at = 0;
/// Where position 0 is. A block of the file system, so that the blocks behind it can be given back one by one.
inline constexpr std::uint64_t frames_begin = 4096;
/// Of one frame.
inline constexpr std::size_t max_payload = std::size_t{64} << 10;
/// The most bytes that a sender is ahead of its receiver.
inline constexpr std::uint64_t window = std::uint64_t{1} << 20;

struct frame_header {
  std::uint64_t position = 0;  ///< of this frame: bytes of all frames before it
  std::uint32_t size = 0;      ///< of the payload
  std::uint32_t key = 0;
  std::uint32_t call = 0;
  std::uint32_t kind = 0;
};
static_assert(sizeof(frame_header) == 24);

/// Of a frame in the file: header, payload, and zeros up to a multiple of 8.
[[nodiscard]] constexpr std::size_t frame_bytes(std::size_t payload) noexcept {
  return (sizeof(frame_header) + payload + 7) & ~std::size_t{7};
}
inline constexpr std::size_t max_frame = frame_bytes(max_payload);
static_assert(max_payload > readable_payload && max_frame < window);

/// Whether a header may stand at `position`: its bytes are the peer's.
[[nodiscard]] constexpr bool sane(const frame_header& header, std::uint64_t position) noexcept {
  return header.position == position && header.size <= max_payload && header.kind > 0 && header.kind <= 127;
}

}  // namespace ham::transport::file
