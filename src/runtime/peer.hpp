// The runtime's record of one node.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/biased_lock.hpp"
#include "ham/msg/translation.hpp"
#include "ham/offload/node.hpp"
#include "transport/fragments.hpp"
#include "transport/transport.hpp"

namespace ham::detail {

enum class peer_state : std::uint8_t { unknown, connecting, greeting, ready, lost };

/// A message that arrived and waits for its turn, or for its thread.
struct stored_message {
  struct peer* from = nullptr;
  transport::frame_head head;
  std::vector<std::byte> bytes;
};

struct peer {
  explicit peer(node_t number) : node(number) {}

  const node_t node;
  std::atomic<peer_state> state{peer_state::unknown};
  std::atomic<bool> condemned{false};             ///< broke the rules: nothing more of it is looked at
  transport::endpoint* to = nullptr;              ///< set before `greeting`
  std::size_t max_payload = 0;                    ///< of `to`
  std::uint64_t max_message = UINT64_MAX;         ///< what the node takes, as it says; set before `ready`
  std::unique_ptr<msg::translation> translation;  ///< set before `ready`; nullptr: the same table on both sides

  // Sending.
  base::biased_lock sending;
  std::list<transport::outbound> outbox;  ///< guarded by sending; behind it everything queues
  std::uint32_t next_stream = 0;
  std::uint64_t calls_sent = 0;

  // Receiving, under the engine's receiving lock.
  transport::assembler fragments;
  const void* executor = nullptr;  ///< thread that executes a call of this peer right now
  std::list<stored_message> deferred;
  bool hello_seen = false;

  // Guarded by the engine's mutex.
  offload::node_descriptor::facts facts;
  std::string loss;
  std::string address;
};

}  // namespace ham::detail
