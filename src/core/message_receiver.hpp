// What becomes of a frame that has arrived: a call, a reply, or words of another node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "core/call_table.hpp"
#include "core/dispatcher.hpp"
#include "core/fault_injector.hpp"
#include "core/frame_header.hpp"
#include "core/handshake.hpp"
#include "core/peer.hpp"
#include "ham/msg/handler_table.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// What the receiver asks of its node: nothing on the path of a small call or its reply. The receiving lock is held.
class receiving_node {
 public:
  virtual ~receiving_node() = default;
  /// Handles what transports have reported: a frame came of an endpoint that was not seen yet.
  virtual bool handle_events() noexcept = 0;
  /// The peer can be called from now on. Throws ham::protocol_error.
  virtual void welcome(peer& who) = 0;
  /// The peer broke the rules.
  virtual void fail_peer(peer& who, const std::string& why) noexcept = 0;
  /// The error of a call to a peer, whose result cannot be had.
  [[nodiscard]] virtual std::exception_ptr loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                                   call_outcome outcome) noexcept = 0;
  /// A fault drops the connection to the peer, or kills its process. True: it is as good as lost.
  virtual bool break_peer(peer& who, const base::fault_rule& by) = 0;
  /// Words to the job. Throws ham::protocol_error.
  virtual void receive_notice(peer& from, std::span<const std::byte> text) = 0;
  /// A frame between two other nodes, or from another one through the host. Throws ham::protocol_error.
  virtual void receive_relayed(peer& from, frame_header head, std::span<const std::byte> payload) = 0;
  /// The peer ends the connection. `text`: what it was sent that broke the rules; empty: it ends in order.
  virtual void receive_goodbye(peer& from, std::span<const std::byte> text) = 0;
  /// The memory of a long message was used.
  virtual void used_long_memory() noexcept = 0;
  /// The result of a replay of a graph. Throws ham::protocol_error.
  virtual void receive_replayed(peer& from, frame_header head, std::span<const std::byte> payload) = 0;
};

/// Everything in a frame is checked before it is used. The receiving lock is held; it is free while a call runs.
class message_receiver {
 public:
  /// The parts of the node that it works with.
  struct parts {
    const msg::handler_table& functions;
    dispatcher& calls;
    call_table& pending;
    handshake& greetings;
    fault_injector* faults = nullptr;
    node_t self = 0;
  };
  message_receiver(receiving_node& node, const parts& of) : node_(node), of_(of) { spare_buffers_.reserve(max_spare); }

  /// A frame that was polled. Releases it. While a call runs the endpoint may be lost and destroyed.
  void receive(transport::endpoint& from, const transport::frame& frame);
  /// The same for the reply to a call that its future's thread waits for, and has found itself (reply_reader): without
  /// the receiving lock, with the `reading` lock of the peer's place. Throws ham::protocol_error.
  void receive_reply(transport::endpoint& from, peer& who, const transport::frame& frame);
  /// Whether a frame counts although its sender is lost: it is, or belongs to, an answer, or is for another node.
  [[nodiscard]] static bool outlives_sender(const transport::frame& frame);
  /// A reply that a fault has held back; what has become of its call meanwhile does not matter.
  void receive_held(peer& from, const held_reply& reply) noexcept;
  /// Memory of long messages, which the next one would use.
  void free_long_buffers() noexcept;

  /// From this size on the memory of a message is worth being given back.
  static constexpr std::size_t long_message = std::size_t{128} << 10;

 private:
  void receive_call(peer& from, frame_header head, std::span<const std::byte> payload);
  void receive_message(peer& from, frame_header head, std::span<const std::byte> payload);
  void receive_batch_reply(peer& from, std::span<const std::byte> payload);
  [[nodiscard]] std::exception_ptr exception_in(peer& from, const msg::handler_entry& function,
                                                std::span<const std::byte> payload) const;
  void settle_error(peer& from, std::uint32_t call, std::span<const std::byte> payload);
  void settle_reply(peer& from, std::uint32_t call, bool failed, std::span<const std::byte> payload);
  void trace_settled(const peer& from, const call_slot& slot, std::uint32_t call) const noexcept;
  void suffer_fault(peer& from, std::uint32_t call, bool failed, std::span<const std::byte> payload);
  void notice_long(const transport::endpoint& from, std::size_t size);
  [[nodiscard]] std::vector<std::byte> copy_of(std::span<const std::byte> payload);
  void keep(std::vector<std::byte> buffer) noexcept;

  static constexpr std::size_t max_spare = 16;

  receiving_node& node_;
  const parts of_;
  std::vector<std::vector<std::byte>> spare_buffers_;
};

}  // namespace ham::detail
