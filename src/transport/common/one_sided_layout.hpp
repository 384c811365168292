// The memory of a one-sided ring: for each direction message buffers, their flags, and two counters.
//
// Paper 1, Fig. 5 and Fig. 8. The memory is at one side, the passive one; all accesses are initiated by the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace ham::inline v1::transport {

/// First bytes of a message in its buffer. `credit` is piggybacked: how many messages of the other direction the sender
/// has done with, so that their buffers are free again.
struct one_sided_head {
  std::uint32_t key;
  std::uint32_t call;
  std::uint32_t kind;
  std::uint32_t credit;
};
static_assert(sizeof(one_sided_head) == 16);

/// A flag: 0 until its buffer was first filled, then what the receiver must know before it reads the buffer.
struct one_sided_flag {
  std::uint64_t stamp = 0;  ///< which message of the connection
  std::uint32_t next = 0;   ///< piggybacked: the buffer that the next message will come in
  std::uint32_t size = 0;   ///< bytes of the payload

  static constexpr std::uint64_t stamp_mask = 0x7fffff;

  [[nodiscard]] constexpr std::uint64_t word() const noexcept {
    return std::uint64_t{1} << 63 | (stamp & stamp_mask) << 40 | std::uint64_t{next & 0xffff} << 24 | (size & 0xffffff);
  }
  [[nodiscard]] static constexpr one_sided_flag of(std::uint64_t word) noexcept {
    return {word >> 40 & stamp_mask, static_cast<std::uint32_t>(word >> 24 & 0xffff),
            static_cast<std::uint32_t>(word & 0xffffff)};
  }
};

/// Counters have this bit, so that a word which is still under way differs from a count of 0.
inline constexpr std::uint64_t counted = std::uint64_t{1} << 63;

struct one_sided_layout {
  std::uint32_t buffers = 128;  ///< of one direction
  std::uint32_t buffer_bytes = 16384;

  static constexpr std::size_t line = 64;

  /// Whether numbers that a peer sent make sense.
  [[nodiscard]] constexpr bool sane() const noexcept {
    return buffers >= 4 && buffers <= 4096 && buffer_bytes >= 4096 + sizeof(one_sided_head) &&
           buffer_bytes <= (1U << 23) && buffer_bytes % line == 0;
  }
  [[nodiscard]] constexpr std::size_t max_payload() const noexcept { return buffer_bytes - sizeof(one_sided_head); }

  [[nodiscard]] constexpr std::uint64_t flag(unsigned direction, std::uint32_t index) const noexcept {
    return direction * direction_words() + index * 8U;
  }
  /// Messages whose bytes the receiver has, and will act upon.
  [[nodiscard]] constexpr std::uint64_t consumed(unsigned direction) const noexcept {
    return (direction + 1) * direction_words() - 2 * line;
  }
  /// Messages whose buffers may be written again.
  [[nodiscard]] constexpr std::uint64_t released(unsigned direction) const noexcept {
    return (direction + 1) * direction_words() - line;
  }
  [[nodiscard]] constexpr std::uint64_t buffer(unsigned direction, std::uint32_t index) const noexcept {
    return word_bytes() + (std::uint64_t{direction} * buffers + index) * buffer_bytes;
  }
  /// Flags and counters come first; words are in this part only.
  [[nodiscard]] constexpr std::size_t word_bytes() const noexcept { return 2 * direction_words(); }
  [[nodiscard]] constexpr std::size_t bytes() const noexcept {
    return word_bytes() + std::size_t{2} * buffers * buffer_bytes;
  }

 private:
  [[nodiscard]] constexpr std::size_t direction_words() const noexcept {
    return (buffers * 8U + line - 1) / line * line + 2 * line;
  }
};

/// The flag of message `position` of a connection is stamped so.
[[nodiscard]] constexpr std::uint64_t one_sided_stamp(std::uint64_t position, std::uint32_t epoch) noexcept {
  return (position + epoch) & one_sided_flag::stamp_mask;
}

/// What one side must know of the ring besides its memory.
struct one_sided_terms {
  one_sided_layout layout;
  std::uint32_t epoch = 0;  ///< differs per connection
  unsigned side = 0;        ///< the direction that this side sends in
  bool tells_taken = true;  ///< the active side says of each message that it has it; false: a remote access is too dear
};

/// Makes zeroed memory a ring in which nothing has been sent. `store(offset, word)` writes.
template <class Store>
void initialise(const one_sided_layout& layout, Store store) {
  for (const unsigned direction : {0U, 1U}) {
    store(layout.consumed(direction), counted);
    store(layout.released(direction), counted);
  }
}

}  // namespace ham::transport
