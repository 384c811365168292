// The counters of a node in shared memory: a head, a block for each thread that executes calls, a row for each peer.
//
// Tools and other processes of the user read it while the node writes. What is written for every call has one writer at
// a time, which loads and stores it: no read-modify-write, and no line that others write. Zeros: nothing was counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ticks.hpp"
#include "base/time_buckets.hpp"

namespace ham::inline v1::base {

using counter_word = std::atomic<std::uint64_t>;
using counter_mark = std::atomic<std::uint32_t>;
static_assert(counter_word::is_always_lock_free && counter_mark::is_always_lock_free);
static_assert(sizeof(counter_word) == 8 && sizeof(counter_mark) == 4);

/// For the word's one writer.
inline void count_more(counter_word& in, std::uint64_t more) noexcept {
  in.store(in.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}
inline void count_more(counter_mark& in, std::uint32_t more) noexcept {
  in.store(in.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

inline constexpr std::size_t counter_line_bytes = 64;

/// What was exchanged with one peer, or with several.
struct alignas(counter_line_bytes) counter_traffic {
  // The peer's sending lock is held.
  counter_word calls_sent;
  counter_word bytes_sent;
  counter_mark waiting;  ///< messages that wait for room on their way
  counter_mark reserved;
  // The receiving lock is held.
  alignas(counter_line_bytes) counter_word calls_received;
  counter_word bytes_received;
};

struct counter_head {
  static constexpr std::uint64_t magic_value = 0x31544e434d414821;  // "!HAMCNT1"
  // Written once, the first word last.
  std::atomic<std::uint64_t> magic;
  std::int64_t pid;  ///< as the process sees itself
  std::int32_t node;
  tick_source source;
  std::uint64_t start_ticks;  ///< and the time when that was the count
  std::int64_t start_ns;
  std::uint64_t serial;  ///< tells the nodes of a process apart: of the later one it is larger
  std::uint64_t reserved;
  std::array<char, 32> program;
  counter_mark rows;     ///< those behind were never used
  counter_mark changes;  ///< odd: rows change hands right now

  /// How the node waits.
  alignas(counter_line_bytes) counter_word sleeps;
  counter_mark asleep;  ///< 1: in the kernel
  counter_mark unused;
  std::atomic<std::int64_t> polled_ns;  ///< when a thread polled in vain last, about; 0: never

  /// Calls that have not begun, or not ended.
  alignas(counter_line_bytes) counter_mark set_aside;  ///< messages that the node's own threads begin
  alignas(counter_line_bytes) counter_mark in_contexts;
  alignas(counter_line_bytes) counter_mark in_pool;  ///< those that run are among them

  /// Its device. Releases that know none leave zeros here.
  enum class device_state : std::uint32_t { none, idle, resident };
  counter_mark device;           ///< a `device_state`
  counter_word device_calls;     ///< that the device has answered
  counter_word device_launches;  ///< of its resident kernel

  counter_traffic gone;  ///< with peers whose rows were given back
};

/// What one thread executes for the node.
struct alignas(counter_line_bytes) counter_thread {
  counter_word begun;  ///< calls; larger than `ended` while it executes some, one inside of the other
  counter_word ended;
  // Of calls in quick succession a sample is timed, of which each one counts for those before it as well.
  counter_word ticks;  ///< that calls took, from decoding to the reply, with what was executed within
  std::array<counter_word, time_buckets::count> took;
};

/// One peer of the node, or the node itself.
struct alignas(counter_line_bytes) counter_row {
  enum class state : std::uint32_t { nobody, expected, met, lost };
  // Changed by whoever makes, meets, or loses a peer.
  counter_mark now;  ///< a `state`
  std::atomic<std::int32_t> node;
  std::atomic<std::int32_t> number;  ///< that calls name, if that is another
  counter_mark restarts;             ///< processes that had the number before
  std::atomic<std::int64_t> pid;     ///< 0: not known
  std::array<char, 16> transport;
  std::array<char, 64> machine;
  counter_traffic traffic;
};

struct counter_area {
  static constexpr std::size_t max_threads = 32;  ///< the last block is for all that find no other
  static constexpr std::size_t max_rows = 4096 + 256;
  counter_head head;
  std::array<counter_thread, max_threads> threads;
  std::array<counter_row, max_rows> rows;
};
static_assert(offsetof(counter_head, start_ticks) == 24 && offsetof(counter_head, program) == 56);
static_assert(sizeof(counter_traffic) == 128 && sizeof(counter_head) == 512 && sizeof(counter_row) == 256);

}  // namespace ham::base
