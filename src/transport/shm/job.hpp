// The segment that all nodes of one machine share: a bell and a life word each, and how many want to run.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/life_word.hpp"
#include "base/memory_file.hpp"
#include "transport/common/bell.hpp"

namespace ham::transport::shm {

struct job_node {
  bell ring_me;
  alignas(line_bytes) base::life_word alive;
  std::atomic<std::uint32_t> awake;
};

struct job_segment {
  static constexpr std::uint32_t magic_value = 0x4d414831;  // "1HAM"
  std::uint32_t magic;
  std::uint32_t cores;
  alignas(line_bytes) std::atomic<std::int32_t> awake;  ///< nodes that are not asleep
  job_node nodes[most_nodes];

  /// Counts a node in or out; idempotent per node.
  void set_awake(std::uint32_t node, bool on) noexcept {
    const std::uint32_t wanted = on ? 1 : 0;
    if (nodes[node].awake.exchange(wanted, std::memory_order_relaxed) != wanted) awake.fetch_add(on ? 1 : -1);
  }
};

}  // namespace ham::transport::shm
