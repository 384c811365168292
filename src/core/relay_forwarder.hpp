// The host passes on what two of its nodes send each other that have no medium in common.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/frame_header.hpp"
#include "core/peer_table.hpp"
#include "core/reply_sender.hpp"

namespace ham::detail {

/// Looks at nothing but the heads. What waits here is bounded by the window of each pair of nodes, which a sender
/// cannot exceed, and which a receiver cannot widen: it is disconnected if it acknowledges what it does not take. The
/// receiving lock is held.
class relay_forwarder {
 public:
  relay_forwarder(peer_table& peers, reply_sender& replies) noexcept : peers_(peers), replies_(replies) {}

  /// A relayed frame of `from`. Throws ham::protocol_error. Gives the receiver if that one has broken the rules.
  [[nodiscard]] peer* forward(peer& from, frame_header head, std::span<const std::byte> payload);
  /// A node has greeted this one: it gets what came for it meanwhile.
  void join(peer& node) noexcept;
  /// Tells those that were connected to a node through this one.
  void lose(node_t node, const std::string& why) noexcept;

 private:
  /// Bytes from one node to another one.
  struct flow {
    std::uint64_t given = 0;
    std::uint64_t consumed = 0;
  };
  /// Two nodes. They are connected once: what comes behind the end is dropped.
  struct connection {
    std::array<flow, 2> flows;  ///< from the first, from the second
    bool ended = false;
  };
  using pair = std::pair<node_t, node_t>;  ///< the smaller number first

  [[nodiscard]] static bool count(connection& of, flow& sent, flow& back, std::uint32_t what,
                                  std::span<const std::byte> payload);
  [[nodiscard]] bool holds_too_much(const peer& to) const;
  void leave_over(node_t receiver, std::uint64_t bytes) noexcept;
  void end(peer& to, node_t lost, std::string_view why) noexcept;

  /// For a node that has not greeted this one.
  struct early_frame {
    frame_header head;
    std::vector<std::byte> payload;
  };

  peer_table& peers_;
  reply_sender& replies_;
  std::map<pair, connection> connections_;
  std::map<node_t, std::vector<early_frame>> early_;  ///< by receiver
  /// Of senders that are lost: what their receivers have not acknowledged, and may still wait here.
  std::map<node_t, std::uint64_t> left_over_;
};

}  // namespace ham::detail
