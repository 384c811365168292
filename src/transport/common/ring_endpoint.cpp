// Waking the peer of a ring.
#include "transport/common/ring_endpoint.hpp"

#include <unistd.h>

namespace ham::transport {

void ring_endpoint::wake_peer() noexcept {
  if (!ring_bell(*peer_bell_.page, self_)) return;
  woken_.store(true, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  // Fails only if the counter is full or the peer is gone; either way there is nobody left to wake.
  [[maybe_unused]] const ssize_t written = ::write(peer_bell_.event_fd, &one, sizeof one);
}

}  // namespace ham::transport
