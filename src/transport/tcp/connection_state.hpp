// What the sending and the receiving part of an endpoint know of each other: counts of frames, and whether it is open.
#pragma once

#include <atomic>
#include <cstdint>

#include "transport/tcp/frame_format.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::tcp {

struct connection_state {
  std::atomic<endpoint_state> state{endpoint_state::open};
  std::atomic<int> cut_off_by{0};  // not 0: this side has ended the connection because of this error of sending

  // ---- frames of the peer
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint32_t> acknowledged{0};           // of those: the peer knows; low 32 bits
  std::atomic<std::uint32_t> allowed{first_allowance};  // up to this one without a word; low 32 bits

  // ---- frames of this side
  std::atomic<std::uint64_t> committed{0};
  std::atomic<std::uint64_t> handed{0};  // of those: at least a byte has gone
  std::atomic<std::uint64_t> peer_taken{0};
};

}  // namespace ham::transport::tcp
