// The segment that all nodes of one machine share: a bell and a life word each, and how many want to run.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/life_word.hpp"
#include "base/memory_file.hpp"
#include "base/process_end.hpp"
#include "base/recorder_area.hpp"
#include "transport/common/bell.hpp"

namespace ham::inline v1::transport::shm {

struct job_node {
  bell ring_me;
  alignas(line_bytes) base::life_word alive;
  std::atomic<std::uint32_t> awake;
  std::uint32_t reserved;
  std::atomic<std::int32_t> home;  ///< the core to wake up on, and 1; 0: any
  base::end_record end;            ///< of the process that was started, which may be a wrapper around the node's

  /// How the node's process has just ended: as the kernel says of `own`, else of `started`, which may be a wrapper
  /// around it (0: not known), else as whoever reaped it has recorded. Empty: nobody says.
  [[nodiscard]] std::string how_ended(pid_t own, pid_t started) const {
    constexpr std::chrono::milliseconds timeout{5};
    std::string how = own > 0 ? base::end_of(own, timeout) : std::string();
    if (how.empty() && started > 0 && started != own) how = base::end_of(started, timeout);
    return how.empty() ? end.text() : how;
  }
  /// Not what another node wrote there to do harm.
  [[nodiscard]] int home_core() const noexcept {
    const std::int32_t said = home.load(std::memory_order_relaxed);
    return said > 0 ? said - 1 : -1;
  }
};

/// Bells are shared by all: a node polls all of its rings at least so often, whoever may have silenced its bell.
inline constexpr std::int64_t max_blind_ns = 200'000'000;

struct job_segment {
  static constexpr std::uint32_t magic_value = 0x4d414831;  // "1HAM"
  std::uint32_t magic;
  std::atomic<std::uint32_t> cores;
  alignas(line_bytes) std::atomic<std::int32_t> awake;  ///< nodes that are not asleep
  job_node nodes[max_nodes];

  /// Counts a node in or out; idempotent per node.
  void set_awake(node_t node, bool on) noexcept {
    const std::uint32_t wanted = on ? 1 : 0;
    if (of(node).awake.exchange(wanted, std::memory_order_relaxed) != wanted) awake.fetch_add(on ? 1 : -1);
  }

  [[nodiscard]] job_node& of(node_t node) noexcept { return nodes[place_of(node)]; }
  /// For a node whose place another one has had, which is gone.
  void clear(node_t node) noexcept {
    set_awake(node, false);
    job_node& place = of(node);
    place.alive.store(0, std::memory_order_relaxed);
    place.end.clear();
    place.ring_me.attention.store(0, std::memory_order_relaxed);
    place.ring_me.sleeping.store(0, std::memory_order_relaxed);
    place.ring_me.orders_senders.store(0, std::memory_order_relaxed);  // the new one says so itself
    for (auto& bits : place.ring_me.bits) bits.store(0, std::memory_order_relaxed);
    for (auto& word : place.ring_me.stops) word.store(0, std::memory_order_relaxed);
  }
};

/// Where a place begins in the segment's file.
[[nodiscard]] constexpr std::uint64_t place_offset(std::size_t place) noexcept {
  return offsetof(job_segment, nodes) + place * sizeof(job_node);
}

struct place_range {
  std::size_t first;
  std::size_t last;
};
/// The places that have a part of the file's bytes from `begin` up to `end`, none of which is of the segment's head.
[[nodiscard]] constexpr place_range places_between(std::uint64_t begin, std::uint64_t end) noexcept {
  const auto place_at = [](std::uint64_t offset) {
    return std::min<std::size_t>((offset - place_offset(0)) / sizeof(job_node), max_nodes - 1);
  };
  return {place_at(begin), place_at(end - 1)};
}

/// Behind the segment, in the same file: the memory of the flight recorder of each target, as far as there is room.
[[nodiscard]] inline std::uint64_t recorder_offset(node_t node) noexcept {
  constexpr std::uint64_t area = base::recorder_area::bytes;
  constexpr std::uint64_t first = (sizeof(job_segment) + area - 1) / area * area;
  return first + place_of(node) * area;
}

// Nodes of different compilers and instruction sets share it.
static_assert(sizeof(job_node) == sizeof(bell) + line_bytes && alignof(job_node) == line_bytes);
static_assert(offsetof(job_node, alive) == sizeof(bell) && offsetof(job_node, awake) == sizeof(bell) + 4);
static_assert(offsetof(job_node, home) == sizeof(bell) + 12);
static_assert(offsetof(job_node, end) == sizeof(bell) + 16);
static_assert(offsetof(job_segment, cores) == 4 && offsetof(job_segment, awake) == line_bytes);
static_assert(offsetof(job_segment, nodes) == 2 * line_bytes);
static_assert(sizeof(job_segment) == 2 * line_bytes + max_nodes * sizeof(job_node));

}  // namespace ham::transport::shm
