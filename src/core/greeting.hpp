// The first message between two nodes: who its sender is, and what it speaks (docs/wire-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ham/msg/manifest.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

struct greeting {
  msg::digest manifest;                    ///< of its handlers and its data layout
  offload::node_descriptor::info node;     /**< of its process and machine; its number and its transport are the
                                                 receiver's to say, and do not travel */
  std::string address;                     ///< where other nodes can connect to it; empty: nowhere
  std::uint64_t max_message = UINT64_MAX;  ///< the longest message that it takes, in bytes

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Throws ham::protocol_error if it is none, or of another version of the protocol.
  [[nodiscard]] static greeting decode(std::span<const std::byte> payload);
};

}  // namespace ham::detail
