// What a relayed frame is, for nodes that pass it on and for those at both ends (docs/wire-format.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/frame_header.hpp"
#include "core/reply_sender.hpp"
#include "core/wire.hpp"
#include "ham/error.hpp"
#include "ham/msg/wire.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

/// Who has sent it; `payload`: all of it. Throws ham::protocol_error.
[[nodiscard]] inline node_t sender_of_relayed(std::span<const std::byte> payload) {
  if (payload.size() < relay_sender_bytes) throw protocol_error("a relayed frame of nobody");
  msg::reader from(payload);
  const auto node = from.number<std::uint32_t>();
  if (from.number<std::uint32_t>() != 0 || node > INT32_MAX) throw protocol_error("a relayed frame of no node");
  return static_cast<node_t>(node);
}

/// Writes who sends it; `payload`: where it begins.
inline void write_relay_sender(std::byte* payload, node_t sender) noexcept {
  msg::writer to(payload, relay_sender_bytes);
  to.number(static_cast<std::uint32_t>(sender));
  to.number(std::uint32_t{0});
}

/// Whether `what` is the kind of a frame, which `payload`, behind the sender, can be. Else it is a credit or an end, or
/// nothing.
[[nodiscard]] inline bool is_relayed_frame(std::uint32_t what, std::span<const std::byte> payload) noexcept {
  return what <= UINT8_MAX && what != to_byte(wire_kind::relay) &&
         frame_header::known({0, 0, static_cast<std::uint8_t>(what)}) && payload.size() >= relay_head_bytes;
}

/// What a frame takes of the window; `size`: of its own payload.
[[nodiscard]] constexpr std::uint64_t relay_cost(std::size_t size) noexcept { return size + relay_frame_bytes; }

/// What a credit says that its sender has consumed; `payload`: behind the sender. Throws ham::protocol_error.
[[nodiscard]] inline std::uint64_t consumed_of_credit(std::span<const std::byte> payload) {
  if (payload.size() != sizeof(std::uint64_t)) throw protocol_error("a credit of another size");
  return msg::reader(payload).number<std::uint64_t>();
}

/// Sends a credit or an end, of which at most relay_max_reason bytes, to `receiver` by way of `hop`, which is ready.
inline void send_relay_control(reply_sender& replies, peer& hop, node_t sender, node_t receiver, std::uint32_t what,
                               std::span<const std::byte> text) noexcept {
  std::array<std::byte, relay_sender_bytes + relay_max_reason> payload;
  write_relay_sender(payload.data(), sender);
  text = text.first(std::min(text.size(), relay_max_reason));
  std::ranges::copy(text, payload.begin() + relay_sender_bytes);
  replies.reply_with(hop, frame_header::relayed(static_cast<std::uint32_t>(receiver), what),
                     std::span(payload).first(relay_sender_bytes + text.size()));
}

}  // namespace ham::detail
