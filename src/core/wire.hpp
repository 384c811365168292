// Kinds of frames and the first words that nodes exchange (docs/wire-format.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ham::inline v1::detail {

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
  notice,    ///< words between the jobs of two nodes
  flow,      ///< whether pings are welcome: one byte, 1: not now
  relay,     ///< a frame between two nodes that are not connected, through others
  cancel,    ///< the call of that id is to stop
  replayed,  ///< the result of a replay of a graph
};

/// Set beside call and batch: the payload begins with the number of a context.
inline constexpr std::uint8_t in_context = 0x40;
/// Set beside call: behind the number of a context, the call has the time that it may still take.
inline constexpr std::uint8_t stoppable = 0x20;
/// That time in nanoseconds; 0: no limit.
inline constexpr std::size_t time_left_bytes = 8;
/// In front of everything that is relayed: the number of the node that has sent it, in as many bytes.
inline constexpr std::size_t relay_sender_bytes = 8;
/// Behind that, in front of the payload of a frame: its own key and call.
inline constexpr std::size_t relay_head_bytes = 8;
inline constexpr std::size_t relay_prefix_bytes = relay_sender_bytes + relay_head_bytes;
/// What is relayed: the kind of a frame, or one of these.
inline constexpr std::uint32_t relay_credit = 0x100;  ///< u64: bytes of the other direction that were consumed so far
inline constexpr std::uint32_t relay_end = 0x101;     ///< text: why the other node cannot be reached any more
/// Bytes of frames, with relay_frame_bytes for each, that may be under way from one node to another one.
inline constexpr std::uint64_t relay_window = std::uint64_t{1} << 20;
inline constexpr std::uint64_t relay_frame_bytes = 32;
/// A credit tells of so many more than the one before, at least.
inline constexpr std::uint64_t relay_credit_step = relay_window / 4;
/// Of the text of an end, at most.
inline constexpr std::size_t relay_max_reason = 1024;
/// Call id of a call that wants no reply.
inline constexpr std::uint32_t no_reply = 0xffffffff;
/// In front of the result of a replay: the part of the graph on the node that has compiled it.
inline constexpr std::size_t replayed_prefix_bytes = 8;
/// In front of each call of a batch: key, call id, size.
inline constexpr std::size_t record_head_bytes = 12;
inline constexpr std::uint32_t hello_magic = 0x314d4148;  // "HAM1"
inline constexpr std::uint32_t protocol_version = 9;

[[nodiscard]] constexpr std::uint8_t to_byte(wire_kind kind) noexcept { return static_cast<std::uint8_t>(kind); }

}  // namespace ham::detail
