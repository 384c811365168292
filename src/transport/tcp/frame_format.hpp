// What stands in front of every payload on the data lane (docs/wire-format.md). Pure functions over bytes.
#pragma once

#include <cstdint>
#include <span>

#include "transport/tcp/bytes.hpp"

namespace ham::inline v1::transport::tcp {

inline constexpr std::size_t head_bytes = 24;
inline constexpr std::size_t largest_payload = (std::size_t{128} << 10) - head_bytes;

/// Kinds beside those of the contract (1 to 127); their frames have no payload and are not counted.
inline constexpr std::uint8_t notice_kind = 0;       ///< carries `taken` and `ahead` only
inline constexpr std::uint8_t farewell_kind = 128;   ///< the sender ends in order: nothing follows
inline constexpr std::uint8_t want_lane_kind = 129;  ///< open a lane for bulk data towards me

/// A node may take this many frames before it has said anything.
inline constexpr std::uint32_t first_allowance = 1;

struct wire_head {
  std::uint32_t size = 0;
  std::uint8_t kind = 0;
  std::uint16_t ahead = 0;  ///< frames that the sender of this head may take beyond `taken` before it says more
  std::uint32_t key = 0;
  std::uint32_t call = 0;
  std::uint32_t taken = 0;  ///< frames that the sender of this head has taken, low 32 bits
};

[[nodiscard]] constexpr bool carries_payload(std::uint8_t kind) noexcept { return kind >= 1 && kind <= 127; }

inline void store_head(std::byte* to, const wire_head& head, std::uint32_t epoch) noexcept {
  store(to, head.size);
  store(to + 4, static_cast<std::uint32_t>(head.kind | std::uint32_t{head.ahead} << 16));
  store(to + 8, head.key);
  store(to + 12, head.call);
  store(to + 16, head.taken);
  store(to + 20, epoch);
}

enum class head_status : std::uint8_t { incomplete, frame, broken };

/// Reads the frame at the begin of `bytes`: `frame` if all of it is there. Never reads behind `bytes`.
[[nodiscard]] inline head_status read_frame(std::span<const std::byte> bytes, std::uint32_t epoch, wire_head& out,
                                            const char*& why) noexcept {
  if (bytes.size() < head_bytes) return head_status::incomplete;
  out.size = load<std::uint32_t>(bytes.data());
  const auto word = load<std::uint32_t>(bytes.data() + 4);
  out.kind = static_cast<std::uint8_t>(word);
  out.ahead = static_cast<std::uint16_t>(word >> 16);
  out.key = load<std::uint32_t>(bytes.data() + 8);
  out.call = load<std::uint32_t>(bytes.data() + 12);
  out.taken = load<std::uint32_t>(bytes.data() + 16);
  if (load<std::uint32_t>(bytes.data() + 20) != epoch) {
    why = "a frame of another connection";
    return head_status::broken;
  }
  const bool payload = carries_payload(out.kind);
  if ((word >> 8 & 0xff) != 0 || (!payload && out.kind != notice_kind && out.kind > want_lane_kind)) {
    why = "a frame of a kind that does not exist";
    return head_status::broken;
  }
  if (out.size > largest_payload || (!payload && out.size != 0)) {
    why = "a frame of a size that cannot be";
    return head_status::broken;
  }
  return bytes.size() - head_bytes < out.size ? head_status::incomplete : head_status::frame;
}

}  // namespace ham::transport::tcp
