// How a sender makes a node look at a ring that it does not poll.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ham/error.hpp"
#include "transport/common/ring_layout.hpp"

namespace ham::inline v1::transport {

inline constexpr std::size_t max_nodes = 4096;

/// Where a node has its place in what is shared: numbers grow, and of those that have the same place one lives at most.
[[nodiscard]] constexpr std::size_t place_of(node_t node) noexcept {
  return static_cast<std::uint32_t>(node) % max_nodes;
}

/// One per node, shared with all its peers. Fixed-width fields only.
struct bell {
  alignas(line_bytes) std::atomic<std::uint32_t> attention;  ///< some bit below is set
  /// Not 0: the owner sleeps, and its event descriptor must be written too. Every sleep has a number of its own.
  alignas(line_bytes) std::atomic<std::uint32_t> sleeping;
  /// The owner forces order upon its senders before it sleeps (base::heavy_fence). While this is 0, they use a full
  /// fence between sending a frame and asking whether the owner polls.
  std::atomic<std::uint32_t> orders_senders;
  alignas(line_bytes) std::atomic<std::uint64_t> bits[max_nodes / 64];  ///< by the place of the sender
  /// Calls that are to stop, by their ids, several of which have the same word: stop_mark. 0: none.
  alignas(line_bytes) std::atomic<std::uint64_t> stops[64];

  /// `from`: the place of its sender. Senders use the same ids first.
  [[nodiscard]] std::atomic<std::uint64_t>& stop_of(std::uint32_t from, std::uint32_t call) noexcept {
    return stops[(call + 7 * from) % (sizeof stops / sizeof stops[0])];
  }
};
static_assert(sizeof(bell) == 2 * line_bytes + max_nodes / 8 + 64 * 8 && alignof(bell) == line_bytes);
static_assert(offsetof(bell, sleeping) == line_bytes && offsetof(bell, bits) == 2 * line_bytes);
static_assert(offsetof(bell, stops) == 2 * line_bytes + max_nodes / 8);
static_assert(offsetof(bell, orders_senders) == line_bytes + 4);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);

/// What a sender writes to stop a call; `from`: its place.
[[nodiscard]] constexpr std::uint64_t stop_mark(std::uint32_t from, std::uint32_t call) noexcept {
  return (std::uint64_t{from} + 1) << 32U | call;
}

/// Sets the bit of `from`. Not 0: the owner sleeps; write its event descriptor, then call woken() with this number.
[[nodiscard]] inline std::uint32_t ring_bell(bell& of, std::uint32_t from) noexcept {
  of.bits[from / 64].fetch_or(std::uint64_t{1} << (from % 64), std::memory_order_relaxed);
  of.attention.store(1, std::memory_order_seq_cst);
  return of.sleeping.load(std::memory_order_seq_cst);
}

/// Spares other senders the event descriptor, which has been written for the sleep `number`. Not before: a sender that
/// is preempted in between would keep all others from waking the owner. And not for a later sleep, hence the number.
inline void woken(bell& of, std::uint32_t number) noexcept { of.sleeping.compare_exchange_strong(number, 0); }

}  // namespace ham::transport
