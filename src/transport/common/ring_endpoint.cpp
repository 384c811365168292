// Waking the peer of a ring, and agreeing with it on who pays for the order of a send and a sleep.
#include "transport/common/ring_endpoint.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "base/home_core.hpp"
#include "base/shared_event.hpp"

namespace ham::inline v0::transport {

base::mapping ring_pair::map(int file) {
  rlimit addresses{};
  const bool limited = ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  if (!limited && base::file_size(file) >= bytes_with_areas) {
    try {
      base::mapping all(file, bytes_with_areas);
      // A dump of this process would contain all of it, and make the kernel fill the holes first.
      ::madvise(all.data() + areas_offset, bytes_with_areas - areas_offset, MADV_DONTDUMP);
      return all;
    } catch (const config_error&) {  // long messages are cut
    }
  }
  return {file, bytes};
}

bool ring_endpoint::send_long(std::byte* at, const frame_head& head) noexcept {
  std::byte* const room = reserve(sizeof(message_place));
  if (room == nullptr) return false;
  const message_place place = area_.send(at);
  std::memcpy(room, &place, sizeof place);
  commit({head.key, head.call, static_cast<std::uint8_t>(head.kind | long_flag)});
  return true;
}

void ring_endpoint::wake_peer() noexcept {
  const std::uint32_t sleep = ring_bell(*peer_bell_.page, self_);
  if (sleep == 0) return;
  woken_.store(true, std::memory_order_relaxed);
  base::ring_event(peer_bell_.event_fd);
  woken(*peer_bell_.page, sleep);
  base::home_core::go_home();  // the kernel may have put the one beside the other
}

void ring_endpoint::fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  fenced_ = !ordered_by_others_ || peer_bell_.page->orders_senders.load(std::memory_order_relaxed) == 0;
}

}  // namespace ham::transport
