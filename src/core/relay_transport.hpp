// Nodes that this one has no medium in common with are reached through others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/frame_header.hpp"
#include "core/peer_events.hpp"
#include "core/peer_table.hpp"
#include "core/reply_sender.hpp"
#include "core/routes.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// Paper 1 leaves such nodes without each other. Frames travel inside frames to a neighbour (routes), which passes them
/// on (relay_forwarder); what they carry, a greeting first, is none of its business. A window bounds what is under way:
/// the receiver says how much it has consumed.
///
/// It sends over the node's connection to that neighbour, and needs nothing to be woken by: what arrives for it is
/// handed over by the thread that polls.
class relay_transport final : public transport::transport {
 public:
  relay_transport(node_t self, const routes& ways, peer_table& peers, reply_sender& replies,
                  ham::transport::observer& to) noexcept;
  ~relay_transport() override;

  /// What a neighbour passes on; `payload`: behind the sender. A node whose frames are wrong is lost, not the
  /// neighbour. The receiving lock is held.
  void take(node_t from, std::uint32_t what, std::span<const std::byte> payload) noexcept;
  /// A neighbour is gone, and all that was reached through it. The receiving lock is held.
  void lose_behind(node_t hop, const std::string& why) noexcept;

  [[nodiscard]] const char* name() const noexcept override { return "relay"; }
  /// The receiving lock is held.
  void connect(node_t peer) override;
  [[nodiscard]] ham::transport::endpoint* poll(ham::transport::frame& out, unsigned polls) override;
  [[nodiscard]] bool arm() override { return arrivals_.empty(); }
  void disarm() noexcept override {}
  [[nodiscard]] int wake_fd() const noexcept override { return -1; }
  void wake() noexcept override {}
  void forget(ham::transport::endpoint& with) noexcept override;
  void shutdown() noexcept override {}

 private:
  class relayed_endpoint;

  [[nodiscard]] relayed_endpoint* find(node_t node) const noexcept;
  /// The endpoint of a node; a new one is reported to the observer.
  relayed_endpoint& endpoint_of(node_t node);
  void store(node_t from, std::uint32_t what, std::span<const std::byte> payload);
  void end(node_t node, const std::string& why);
  void fail(node_t node, const char* why) noexcept;
  void send_control(const relayed_endpoint& with, std::uint32_t what, std::span<const std::byte> bytes) noexcept;

  const node_t self_;
  const routes& ways_;
  peer_table& peers_;
  reply_sender& replies_;
  ham::transport::observer& observer_;
  // Under the receiving lock.
  std::map<node_t, std::unique_ptr<relayed_endpoint>> endpoints_;
  std::set<node_t> gone_;                   ///< were connected; frames of theirs that are still under way are dropped
  std::deque<relayed_endpoint*> arrivals_;  ///< one for each frame that waits, and for an end behind them
  std::vector<std::unique_ptr<relayed_endpoint>> forgotten_;
};

}  // namespace ham::detail
