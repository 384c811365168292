// The memory of a process's flight recorder: a head, a ring of events for each thread, the names of its functions.
//
// Processes of other compilers and instruction sets, and tools, read it, also when its process has been killed. In a
// file, areas begin at multiples of their size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/recorded_event.hpp"
#include "base/ticks.hpp"

namespace ham::inline v1::base {

struct recorder_head {
  static constexpr std::uint64_t magic_value = 0x3143455248414d21;  // "!MAHREC1"
  std::uint64_t magic;                                              ///< written last
  std::int64_t pid;                                                 ///< as the process sees itself
  std::int32_t node;
  tick_source source;
  std::uint64_t start_ticks;  ///< and the time when that was the count, by which readers find out how long a tick is
  std::int64_t start_ns;
  std::uint32_t names;  ///< how many there are
  std::uint32_t named;  ///< how many follow them, of functions that are no handlers; written behind the name
  std::uint32_t reserved[4];
};
static_assert(sizeof(recorder_head) == 64 && offsetof(recorder_head, start_ticks) == 24);

/// What one thread writes.
struct recorder_ring {
  static constexpr std::uint32_t max_open = 8;
  static constexpr std::uint32_t max_past = 128;
  std::uint32_t thread;  ///< its id of the kernel, 0: nobody's yet
  std::uint32_t reserved[15];
  recorded_event open[max_open];  ///< what it executes now, the outermost first; in the last place the innermost
  recorded_event past[max_past];  ///< what it has done, in turn
};
static_assert(sizeof(recorder_ring) == 64 + 32 * (8 + 128));

struct recorder_area {
  static constexpr std::size_t bytes = 256 * 1024;  // whole pages everywhere
  static constexpr std::size_t max_threads = 32;
  recorder_head head;
  recorder_ring rings[max_threads];
  /// By key, each behind its length in two bytes, those of handlers first. What does not fit is missing at the end.
  std::byte names[bytes - sizeof(recorder_head) - max_threads * sizeof(recorder_ring)];
};
static_assert(sizeof(recorder_area) == recorder_area::bytes);

}  // namespace ham::base
