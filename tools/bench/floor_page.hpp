// The page that the host and the floor's partner share, and the futex calls on it.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ham::inline v1::bench {

/// What the partner shall do now.
enum class floor_command : std::uint32_t { sleep, bounce, futex, copy, lines_there, lines_back, quit };

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
  alignas(128) std::atomic<std::uint64_t> copied_bytes;  ///< of a request to copy, or of a message
  std::atomic<std::uint64_t> ring_bytes;                 ///< in which messages take turns
  alignas(128) floor_lines bounced[floor_places];

  [[nodiscard]] floor_lines& place(std::uint32_t round) noexcept { return bounced[round % floor_places]; }
};

/// Behind the page, from the next page of memory on: what is copied through.
inline constexpr std::size_t floor_copy_offset = (sizeof(floor_page) + 4095) / 4096 * 4096;
inline constexpr std::size_t floor_copy_bytes = std::size_t{32} << 20;
inline constexpr std::size_t floor_memory_bytes = floor_copy_offset + floor_copy_bytes;

/// Where messages of `size_bytes` lie in that memory. The flag and the first bytes share a line, which is written last.
/// Every round is in other lines of the `ring_bytes` of the page: writing what another core has just read is dearer
/// than writing what it no longer has in its own caches. The rest of a long message begins with a page: memcpy of
/// recent AMD cores is several times slower where the target lies a little further in its page than the source.
class floor_messages {
 public:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t head_bytes = 16;
  static constexpr std::size_t short_ring_bytes = 4096 * line_bytes;     ///< stays in the cores' own caches
  static constexpr std::size_t long_ring_bytes = std::size_t{16} << 20;  ///< does not
  /// Of the message in the line of the flag.
  static constexpr std::size_t first_bytes = line_bytes - head_bytes;

  explicit floor_messages(floor_page& page) noexcept
      : memory_(reinterpret_cast<std::byte*>(&page) + floor_copy_offset),
        ring_bytes_(page.ring_bytes),
        size_bytes_(page.copied_bytes),
        first_(std::min(size_bytes_, first_bytes)),
        rest_(size_bytes_ - first_),
        long_(size_bytes_ >= page_bytes),
        stride_(long_ ? rounded(rest_, page_bytes) : line_bytes + rounded(rest_, line_bytes)) {}

  void clear() noexcept { std::memset(memory_, 0, ring_bytes_ + floor_places * stride_of_flags); }

  [[nodiscard]] std::atomic<std::uint32_t>& flag(std::uint32_t round) noexcept {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(line(round));
  }
  void write(std::uint32_t round, const std::byte* from) noexcept {
    std::memcpy(rest(round), from + first_, rest_);
    std::memcpy(line(round) + head_bytes, from, first_);
    flag(round).store(round, std::memory_order_release);
  }
  void copy_out(std::uint32_t round, std::byte* to) noexcept {
    std::memcpy(to, line(round) + head_bytes, first_);
    std::memcpy(to + first_, rest(round), rest_);
  }

 private:
  static constexpr std::size_t stride_of_flags = 128;

  static std::size_t rounded(std::size_t bytes, std::size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }
  [[nodiscard]] std::byte* place(std::uint32_t round) noexcept {
    return memory_ + round % (ring_bytes_ / stride_) * stride_;
  }
  [[nodiscard]] std::byte* line(std::uint32_t round) noexcept {
    return long_ ? memory_ + ring_bytes_ + round % floor_places * stride_of_flags : place(round);
  }
  [[nodiscard]] std::byte* rest(std::uint32_t round) noexcept {
    return long_ ? place(round) : place(round) + line_bytes;
  }

  std::byte* memory_;
  std::size_t ring_bytes_;
  std::size_t size_bytes_;
  std::size_t first_;
  std::size_t rest_;
  bool long_;
  std::size_t stride_;
};

/// Memory of one process for such a message, of which what does not go into the line of the flag begins with a page.
class floor_buffer {
 public:
  explicit floor_buffer(std::size_t size_bytes) : memory_(size_bytes + 2 * floor_messages::page_bytes) {}

  [[nodiscard]] std::byte* data() noexcept {
    constexpr std::size_t page = floor_messages::page_bytes;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data()) + floor_messages::first_bytes;
    return memory_.data() + ((begin + page - 1) / page * page - begin);
  }
  /// As many bytes that begin with a page.
  [[nodiscard]] std::byte* page_aligned() noexcept { return data() + floor_messages::first_bytes; }

 private:
  std::vector<std::byte> memory_;
};

inline void futex_wait_shared(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}

inline void futex_wake_shared(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace ham::bench
