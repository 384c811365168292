// How nodes come and go: their endpoints, and what becomes of calls when one is lost.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "core/call_table.hpp"
#include "core/fault_injector.hpp"
#include "core/handshake.hpp"
#include "core/last_events.hpp"
#include "core/message_receiver.hpp"
#include "core/outbox_message.hpp"
#include "core/peer_events.hpp"
#include "core/peer_table.hpp"
#include "core/reply_sender.hpp"
#include "core/transport_set.hpp"
#include "core/waiter.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::detail {

/// What is asked of a node whose connections change. Any thread.
class connected_node {
 public:
  virtual ~connected_node() = default;
  /// Whether this node has no work without that one: its job's host, and who has started it.
  [[nodiscard]] virtual bool ends_with(node_t node) const noexcept = 0;
  /// Such a node is gone.
  virtual void lose_host() noexcept = 0;
  /// A node was lost. The receiving lock is held.
  virtual void after_loss(node_t node, const std::string& why, peer_end how) noexcept = 0;
  /// The node ends: what peers do wrong concerns nobody any more.
  [[nodiscard]] virtual bool leaving() const noexcept = 0;
  /// The supervised number whose process it is, or will be when it has been started; else its own.
  [[nodiscard]] virtual node_t supervised_number(node_t process) const { return process; }
};

class connections {
 public:
  /// The parts of the node that they work with.
  struct parts {
    const peer& own;
    const msg::handler_table& functions;
    peer_table& peers;
    transport_set& transports;
    waiter& lock;
    call_table& calls;
    handshake& greetings;
    message_receiver& receiver;
    reply_sender& replies;
    peer_events& events;
    fault_injector* faults = nullptr;
  };
  connections(connected_node& node, const parts& of);

  // ---- the receiving lock is held
  /// What a transport has reported.
  void handle(peer_event& what) noexcept;
  /// The node is lost, for good: calls to which an answer is due fail. `reason`: for people.
  void lose(peer& who, std::string reason, peer_end how) noexcept;

  // ---- any thread
  /// The peer broke the rules: closes its endpoint, and says so to it and on stderr. Of this node: says so only.
  void fail(peer& who, const std::string& why) noexcept;
  /// The error of a call to a peer that is lost, or whose answer is. Without memory: one that names nothing.
  [[nodiscard]] std::exception_ptr loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                           call_outcome outcome) const noexcept;
  /// The process of a peer, if it is one of this machine; else negative.
  [[nodiscard]] std::int64_t local_process(const peer& who) const;

 private:
  void connect(transport::endpoint& with);
  void receive_last_answers(peer& who) noexcept;
  void mark_unsent(const message_list& messages) noexcept;
  void fail_calls_to(peer& who, const transport::endpoint* gone, peer_end how) noexcept;
  [[nodiscard]] last_events last_events_before(const peer& who, peer_end how) const noexcept;
  [[nodiscard]] std::exception_ptr describe_loss(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                                 call_outcome outcome) const;

  connected_node& node_;
  const parts of_;
  const std::exception_ptr nameless_loss_;  ///< for want of memory to say more
};

}  // namespace ham::detail
