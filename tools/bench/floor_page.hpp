// The page that the host and the floor's partner share, and the futex calls on it.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ham::bench {

/// What the partner shall do now.
enum class floor_command : std::uint32_t { sleep, bounce, futex, copy, quit };

/// Request number that ends a block.
inline constexpr std::uint32_t end_of_block = 0xffffffffU;

/// A line for each direction.
struct floor_lines {
  alignas(64) std::atomic<std::uint32_t> request;
  alignas(64) std::atomic<std::uint32_t> reply;
};

/// What a bounce costs depends on where in the last-level cache the line is at home (234 to 311 ns on one machine), so
/// it moves on with every round, as messages in a ring do: the floor is that of an average line, not of a lucky one.
inline constexpr std::uint32_t floor_places = 128;

/// Every word has a cache line of its own, and the pairs do not share the 128 bytes that prefetchers fetch together.
struct floor_page {
  alignas(128) std::atomic<std::uint32_t> command;
  alignas(128) std::atomic<std::uint32_t> active;  ///< the command that the partner is at
  alignas(128) std::atomic<std::uint32_t> request;
  alignas(128) std::atomic<std::uint32_t> reply;
  alignas(128) std::atomic<std::uint64_t> copied_bytes;  ///< of a request to copy
  alignas(128) floor_lines bounced[floor_places];

  [[nodiscard]] floor_lines& place(std::uint32_t round) noexcept { return bounced[round % floor_places]; }
};

/// Behind the page, from the next page of memory on: what is copied through.
inline constexpr std::size_t floor_copy_offset = (sizeof(floor_page) + 4095) / 4096 * 4096;
inline constexpr std::size_t floor_copy_bytes = std::size_t{32} << 20;
inline constexpr std::size_t floor_memory_bytes = floor_copy_offset + floor_copy_bytes;

inline void futex_wait_shared(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}

inline void futex_wake_shared(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace ham::bench
