// Waking the peer of a ring, and agreeing with it on who pays for the order of a send and a sleep.
#include "transport/common/ring_endpoint.hpp"

#include <unistd.h>

#include "base/event_fds.hpp"
#include "base/home_core.hpp"

namespace ham::transport {

void ring_endpoint::wake_peer() noexcept {
  const std::uint32_t sleep = ring_bell(*peer_bell_.page, self_);
  if (sleep == 0) return;
  woken_.store(true, std::memory_order_relaxed);
  base::signal_event(peer_bell_.event_fd);  // in vain only if the counter is full or the peer is gone
  woken(*peer_bell_.page, sleep);
  base::home_core::go_home();  // the kernel may have put the one beside the other
}

void ring_endpoint::fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  fenced_ = !ordered_by_others_ || peer_bell_.page->orders_senders.load(std::memory_order_relaxed) == 0;
}

}  // namespace ham::transport
