// How parts of a node send what answers a message.
#pragma once

#include <cstddef>
#include <span>

#include "core/frame_header.hpp"

namespace ham::inline v1::detail {

struct peer;

/// Not on the path of a call that is answered at once. Any thread, which does not hold the peer's sending lock.
class reply_sender {
 public:
  virtual ~reply_sender() = default;
  /// Never waits for room. If there is no memory for it the connection is given up.
  virtual void reply_with(peer& to, frame_header head, std::span<const std::byte> bytes) noexcept = 0;
};

}  // namespace ham::detail
