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
  /// Bit 0: it is not asleep. Bit 1: it has ended. Bits 16 to 31: the only core that it may use, and 1; 0: it may use
  /// several.
  std::atomic<std::uint32_t> awake;
  std::atomic<std::int32_t> awake_here;  ///< nodes bound to the core with this place's number that are not asleep
  std::atomic<std::int32_t> home;        ///< the core to wake up on, and 1; 0: any
  base::end_record end;                  ///< of the process that was started, which may be a wrapper around the node's

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
  std::atomic<std::int32_t> awake_anywhere;             ///< of these, nodes that may use several cores
  std::atomic<std::int32_t> counting_places;            ///< from the first one on: they may count nodes (awake_here)
  job_node nodes[max_nodes];

  /// Counts a node in or out; idempotent per node.
  void set_awake(node_t node, bool on) noexcept {
    std::atomic<std::uint32_t>& word = of(node).awake;
    const std::uint32_t before =
        on ? word.fetch_or(is_awake, std::memory_order_relaxed) : word.fetch_and(~is_awake, std::memory_order_relaxed);
    if (((before & is_awake) != 0) != on) count(before, on ? 1 : -1);
  }
  /// Another node is about to wake this one: counts it in, unless it has ended.
  void wake(node_t node) noexcept {
    std::atomic<std::uint32_t>& word = of(node).awake;
    std::uint32_t before = word.load(std::memory_order_relaxed);
    do {
      if ((before & (is_awake | has_ended)) != 0) return;
    } while (!word.compare_exchange_weak(before, before | is_awake, std::memory_order_relaxed));
    count(before, 1);
  }
  /// It does not run any more, nor can anybody wake it.
  void end(node_t node) noexcept {
    of(node).awake.fetch_or(has_ended, std::memory_order_relaxed);
    set_awake(node, false);
  }
  /// The node may use this core only; negative: several.
  void bind(node_t node, int core) noexcept {
    const bool counts = core >= 0 && core < static_cast<int>(max_nodes);
    std::int32_t places = counting_places.load(std::memory_order_relaxed);
    while (counts && places <= core &&
           !counting_places.compare_exchange_weak(places, core + 1, std::memory_order_relaxed)) {
    }
    const std::uint32_t bound = counts ? static_cast<std::uint32_t>(core + 1) << 16 : 0;
    std::atomic<std::uint32_t>& word = of(node).awake;
    std::uint32_t before = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(before, bound | (before & 0xffff), std::memory_order_relaxed)) {
    }
    if ((before & is_awake) == 0) return;
    count_where(before, -1);
    count_where(bound, 1);
  }
  /// Whether others want to run where `node` does. Who has a core for itself alone is not concerned by how many share
  /// another.
  [[nodiscard]] bool oversubscribes(node_t node) noexcept {
    const bool too_many =
        awake.load(std::memory_order_relaxed) > static_cast<std::int32_t>(cores.load(std::memory_order_relaxed));
    const job_node* const core = core_of(of(node).awake.load(std::memory_order_relaxed));
    if (core == nullptr) return too_many;
    return core->awake_here.load(std::memory_order_relaxed) > 1 ||
           (too_many && awake_anywhere.load(std::memory_order_relaxed) > 0);
  }

  [[nodiscard]] job_node& of(node_t node) noexcept { return nodes[place_of(node)]; }
  /// For a node whose place another one has had, which is gone.
  void clear(node_t node) noexcept {
    set_awake(node, false);
    job_node& place = of(node);
    place.awake.store(0, std::memory_order_relaxed);
    place.alive.store(0, std::memory_order_relaxed);
    place.end.clear();
    place.ring_me.attention.store(0, std::memory_order_relaxed);
    place.ring_me.sleeping.store(0, std::memory_order_relaxed);
    place.ring_me.orders_senders.store(0, std::memory_order_relaxed);  // the new one says so itself
    for (auto& bits : place.ring_me.bits) bits.store(0, std::memory_order_relaxed);
    for (auto& word : place.ring_me.stops) word.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t is_awake = 1, has_ended = 2;  // of job_node::awake

  void count(std::uint32_t word, std::int32_t change) noexcept {
    awake.fetch_add(change);
    count_where(word, change);
  }
  void count_where(std::uint32_t word, std::int32_t change) noexcept {
    job_node* const core = core_of(word);
    (core != nullptr ? core->awake_here : awake_anywhere).fetch_add(change, std::memory_order_relaxed);
  }
  /// Where the awake nodes of the only core are counted, of a node that has this word; null: it may use several.
  [[nodiscard]] job_node* core_of(std::uint32_t word) noexcept {
    const std::uint32_t core = word >> 16;
    return core == 0 || core > max_nodes ? nullptr : &nodes[core - 1];
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
