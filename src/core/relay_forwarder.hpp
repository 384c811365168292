// Node 0, and each node that has targets of its own, passes on what nodes send each other that have no medium in
// common.
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
#include "core/routes.hpp"

namespace ham::inline v1::detail {

/// What is asked of a node that passes frames on.
class relaying_node {
 public:
  virtual ~relaying_node() = default;
  /// Begins a connection to a neighbour, unless there is one. The receiving lock is held.
  virtual void approach(node_t neighbour) noexcept = 0;
};

/// Looks at nothing but who sends what to whom. What waits here is bounded by the window of each pair of nodes, which a
/// sender cannot exceed, and which a receiver cannot widen: it is disconnected if it acknowledges what it does not
/// take. The receiving lock is held.
class relay_forwarder {
 public:
  relay_forwarder(relaying_node& node, node_t self, const routes& ways, peer_table& peers,
                  reply_sender& replies) noexcept
      : node_(node), self_(self), ways_(ways), peers_(peers), replies_(replies) {}

  /// A relayed frame that `from`, its sender or whoever is on the way, has sent here; it is for another node. Throws
  /// ham::protocol_error. Gives the neighbour that it went to if that one has broken the rules.
  [[nodiscard]] peer* forward(peer& from, frame_header head, std::span<const std::byte> payload);
  /// A neighbour has greeted this node: it gets what came for it meanwhile.
  void join(peer& node) noexcept;
  /// Tells those that were connected through this node to one that is lost, or that was reached through that one.
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
  void leave_over(node_t neighbour, std::uint64_t bytes) noexcept;
  void end(node_t to, node_t lost, std::string_view why) noexcept;

  /// For a neighbour that has not greeted this one.
  struct early_frame {
    frame_header head;
    std::vector<std::byte> payload;
  };

  relaying_node& node_;
  const node_t self_;
  const routes& ways_;
  peer_table& peers_;
  reply_sender& replies_;
  std::map<pair, connection> connections_;
  std::map<node_t, std::vector<early_frame>> early_;  ///< by the neighbour that they go to
  /// Of senders that are lost: what waits here for a neighbour may be so much more than what is not acknowledged.
  std::map<node_t, std::uint64_t> left_over_;
};

}  // namespace ham::detail
