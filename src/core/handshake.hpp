// What two nodes agree on before the first call between them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/peer.hpp"
#include "core/reply_sender.hpp"
#include "core/waiter.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/manifest.hpp"

namespace ham::inline v1::detail {

/// Each side sends a greeting. Where the digests of handlers and data layout differ, each sends its manifest as well,
/// and keeps a translation (docs/wire-format.md).
class handshake {
 public:
  /// `own`: the record of this node, which describes it. `functions`: what it tells of.
  handshake(const peer& own, const msg::handler_table& functions, reply_sender& replies, waiter& wakes) noexcept
      : own_(own), functions_(functions), replies_(replies), waiter_(wakes) {}

  // ---- before the first connection
  /// Where other nodes can connect to this one; empty: nowhere.
  void set_address(std::string address) { address_ = std::move(address); }
  /// Longer messages are not taken.
  void limit_messages(std::size_t bytes) noexcept { message_limit_ = bytes; }
  [[nodiscard]] std::size_t message_limit() const noexcept { return message_limit_; }

  // ---- the receiving lock is held
  /// The peer has an endpoint.
  void greet(peer& to);
  /// Each throws ham::protocol_error. The peer may be ready then.
  void receive_greeting(peer& from, std::span<const std::byte> payload);
  void receive_manifest(peer& from, std::span<const std::byte> payload);

 private:
  void become_ready(peer& who);
  [[nodiscard]] const msg::manifest& own_manifest() const;

  const peer& own_;
  const msg::handler_table& functions_;
  reply_sender& replies_;
  waiter& waiter_;
  std::string address_;
  std::size_t message_limit_ = transport::usual_message_limit;
};

}  // namespace ham::detail
