// Waking the peer of a ring, and agreeing with it on who pays for the order of a send and a sleep.
#include "transport/common/ring_endpoint.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "base/home_core.hpp"
#include "base/shared_event.hpp"

namespace ham::inline v1::transport {

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
  if (peer_bell_.listener != nullptr) peer_bell_.listener->wakes(peer());
  base::ring_event(peer_bell_.event_fd);
  woken(*peer_bell_.page, sleep);
  base::home_core::go_home();  // the kernel may have put the one beside the other
}

void ring_endpoint::fence() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  fenced_ = !ordered_by_others_ || peer_bell_.page->orders_senders.load(std::memory_order_relaxed) == 0;
}

reply_poll ring_endpoint::poll_reply(std::uint8_t kind, std::uint32_t call, std::size_t most, unsigned polls,
                                     frame& out) noexcept {
  if (!reader_.spin(polls)) {
    if (!attended()) attended_.store(true, std::memory_order_relaxed);
    return reply_poll::nothing;
  }
  if (!reader_.next_is(kind, call, most)) {
    if (attended()) ring_endpoint::leave_to_poll();
    return reply_poll::other;
  }
  switch (reader_.poll(out)) {
    case ring_status::frame:
      static_cast<void>(begin_reading());  // once more: release() gives that back
      return reply_poll::reply;
    case ring_status::empty: return reply_poll::nothing;
    case ring_status::broken: malformed_.store(true, std::memory_order_relaxed);
  }
  return reply_poll::other;
}

// ---- stopping calls

stop_word ring_endpoint::stop_word_of(std::uint32_t call) const noexcept {
  if (own_bell_ == nullptr) return {};
  const auto from = static_cast<std::uint32_t>(place_of(peer()));
  return {&own_bell_->stop_of(from, call), stop_mark(from, call)};
}

void ring_endpoint::clear_stop_word(std::uint32_t call) noexcept {
  const stop_word at = stop_word_of(call);
  if (at.word == nullptr) return;
  std::uint64_t mark = at.mark;
  at.word->compare_exchange_strong(mark, 0, std::memory_order_release, std::memory_order_relaxed);
}

/// The frame that says it too is sent behind this.
void ring_endpoint::announce_stop(std::uint32_t call) noexcept {
  peer_bell_.page->stop_of(self_, call).store(stop_mark(self_, call), std::memory_order_release);
}

void ring_endpoint::clear_stop_words() noexcept {
  if (own_bell_ == nullptr) return;
  const std::uint64_t of_peer = stop_mark(static_cast<std::uint32_t>(place_of(peer())), 0) >> 32U;
  for (std::atomic<std::uint64_t>& word : own_bell_->stops) {
    std::uint64_t now = word.load(std::memory_order_relaxed);
    if (now >> 32U == of_peer) word.compare_exchange_strong(now, 0, std::memory_order_relaxed);
  }
}

}  // namespace ham::transport
