// What stands in front of every message between two ranks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transport/transport.hpp"

namespace ham::inline v1::transport::mpi {

/// Tags on the communicator of a group.
inline constexpr int frame_tag = 1;
inline constexpr int credit_tag = 2;  ///< a control::credit, for a sender that finds no room
inline constexpr int bulk_request_tag = 3;
/// Each transfer takes three of those that follow (bulk_format.hpp). MPI promises tags up to 32767.
inline constexpr int first_bulk_tag = 16;
inline constexpr int tags_per_transfer = 3;
inline constexpr std::uint32_t bulk_tags = 8192;

/// Kinds from here on are the transport's own.
enum class control : std::uint8_t {
  credit = 0x80,  ///< nothing but the position in the head
  ended,          ///< the sender will send no more
};

/// Little-endian.
struct frame_format {
  std::uint32_t key;
  std::uint32_t call;
  std::uint32_t taken;  ///< frames that the sender has taken from the receiver so far, the lower bits
  std::uint8_t kind;
  std::uint8_t unused[3];
};
static_assert(sizeof(frame_format) == 16);

inline constexpr std::size_t largest_frame = 64 << 10;
inline constexpr std::size_t largest_payload = largest_frame - sizeof(frame_format);

/// Turns a head as it is in memory into one as it travels, and back.
[[nodiscard]] constexpr frame_format little_endian(frame_format head) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    head.key = __builtin_bswap32(head.key);
    head.call = __builtin_bswap32(head.call);
    head.taken = __builtin_bswap32(head.taken);
  }
  return head;
}

inline void store_head(std::byte* at, const frame_head& head, std::uint32_t taken) noexcept {
  const frame_format text = little_endian({head.key, head.call, taken, head.kind, {}});
  std::memcpy(at, &text, sizeof text);
}

[[nodiscard]] inline frame_format load_head(const std::byte* at) noexcept {
  frame_format text;
  std::memcpy(&text, at, sizeof text);
  return little_endian(text);
}

}  // namespace ham::transport::mpi
