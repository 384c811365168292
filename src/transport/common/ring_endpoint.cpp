// Waking the peer of a ring, and agreeing with it on who pays for the order of a send and a sleep.
#include "transport/common/ring_endpoint.hpp"

#include <unistd.h>

#include "base/home_core.hpp"

namespace ham::transport {

void ring_endpoint::wake_peer() noexcept {
  const std::uint32_t sleep = ring_bell(*peer_bell_.page, self_);
  if (sleep == 0) return;
  woken_.store(true, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  // Fails only if the counter is full or the peer is gone; either way there is nobody left to wake.
  [[maybe_unused]] const ssize_t written = ::write(peer_bell_.event_fd, &one, sizeof one);
  woken(*peer_bell_.page, sleep);
  base::home_core::go_home();  // the kernel may have put the one beside the other
}

void ring_endpoint::fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  fenced_ = !ordered_by_others_ || peer_bell_.page->orders_senders.load(std::memory_order_relaxed) == 0;
}

}  // namespace ham::transport
