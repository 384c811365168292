// The host passes on what two of its nodes send each other that have no medium in common.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "core/frame_header.hpp"
#include "core/peer_table.hpp"
#include "core/reply_sender.hpp"

namespace ham::detail {

/// Looks at nothing but the heads. What waits here is bounded by the window of each pair of nodes, which a sender
/// cannot exceed. The receiving lock is held.
class relay_forwarder {
 public:
  relay_forwarder(peer_table& peers, reply_sender& replies) noexcept : peers_(peers), replies_(replies) {}

  /// A relayed frame of `from`. Throws ham::protocol_error.
  void forward(peer& from, frame_header head, std::span<const std::byte> payload);
  /// Tells those that were connected to a node through this one.
  void lose(node_t node, const std::string& why) noexcept;

 private:
  /// Bytes from one node to another one.
  struct flow {
    std::uint64_t given = 0;
    std::uint64_t consumed = 0;
  };
  using pair = std::pair<node_t, node_t>;  ///< from, to

  void count(peer& from, node_t to, std::uint32_t what, std::span<const std::byte> payload);
  void end(peer& to, node_t lost, std::string_view why) noexcept;

  peer_table& peers_;
  reply_sender& replies_;
  std::map<pair, flow> flows_;
};

}  // namespace ham::detail
