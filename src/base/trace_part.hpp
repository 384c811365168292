// The file in which one process keeps its events of a trace, and its reader, which believes nothing in it.
//
// A head, then chunks, which begin at multiples of `trace_step`: each of one thread, or with names of functions. The
// last one may end early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/recording.hpp"
#include "base/ticks.hpp"
#include "base/trace_event.hpp"

namespace ham::inline v1::base {

inline constexpr std::size_t trace_step = std::size_t{64} << 10;  // whole pages everywhere

struct trace_head {
  static constexpr std::uint64_t magic_value = 0x3250454341525421;  // "!TRACEP2"
  std::uint64_t magic;                                              ///< written last
  std::uint64_t job;                                                ///< all parts of one trace have the same
  std::int64_t pid;                                                 ///< as the process sees itself
  std::int32_t node;                                                ///< of events that are of none
  tick_source source;
  tick_reading start;
  tick_reading latest[2];  ///< the one that is not being written counts, which `which` says
  std::uint64_t which;
  std::uint64_t dropped;  ///< events for which there was no room
  std::uint64_t boot[2];  ///< the same in all processes that share a clock
  char machine[64];
  char program[64];
};
static_assert(sizeof(trace_head) <= trace_step && offsetof(trace_head, start) == 32);

struct trace_chunk {
  static constexpr std::uint64_t magic_value = 0x314b4e4843525421;  // "!TRCHNK1"
  enum content : std::uint32_t { events, names };
  std::uint64_t magic;
  std::uint32_t bytes;  ///< with this head
  content holds;
  std::int32_t node;
  std::uint32_t thread;  ///< its id of the kernel
  std::uint32_t first;   ///< of names: the key of the first; each lies behind its length in two bytes
  std::uint32_t count;
  char name[16];  ///< of the thread
  /// Chunks of one thread are in the order of their serials. Of those with the same one all but the one that has most
  /// are left out; 0: it is alone.
  std::uint64_t serial;
  std::uint64_t reserved;
};
static_assert(sizeof(trace_chunk) == 64);

/// What a file says.
struct trace_part {
  /// A thread that works for several nodes counts once for each.
  struct thread {
    std::int32_t node = 0;
    std::uint32_t id = 0;
    std::string name;
    std::vector<trace_event> events;  ///< in the order in which they were written; without those of names
  };
  std::uint64_t job = 0;
  std::int64_t pid = 0;
  std::int32_t node = 0;
  tick_source source = tick_source::none;
  tick_reading start;
  tick_reading latest;
  std::uint64_t dropped = 0;
  std::uint64_t boot[2] = {0, 0};
  std::string machine;
  std::string program;
  std::vector<std::string> functions;                    ///< by key, canonical; empty: not known
  std::unordered_map<std::uint64_t, std::string> texts;  ///< of spans and counters
  std::vector<thread> threads;

  /// How long a tick is.
  [[nodiscard]] double tick_ns() const noexcept;
};

/// nullopt: it is no such file. What is damaged is left out.
[[nodiscard]] std::optional<trace_part> parse_trace_part(std::span<const std::byte> file);

}  // namespace ham::base
