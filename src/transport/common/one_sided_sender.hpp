// The sending side of a one-sided ring, active or passive. The receiver is not trusted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <vector>

#include "transport/common/memory_access.hpp"
#include "transport/common/one_sided_layout.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

/// What the two directions of a connection tell each other: credit travels with the messages of the other direction.
struct credit_exchange {
  explicit credit_exchange(std::uint32_t buffers) : carried(buffers) {}

  std::atomic<std::uint64_t> own{0};      ///< messages from the peer whose buffers are free again
  std::atomic<std::uint32_t> granted{0};  ///< what the peer said last of ours, low bits
  /// The credit in our last messages, behind the low bits of their positions.
  std::vector<std::atomic<std::uint64_t>> carried;
};

/// Fills buffers and sets flags. One thread at a time; consumed() from any.
template <memory_access Access>
class one_sided_sender {
 public:
  one_sided_sender(Access& there, const one_sided_terms& terms, credit_exchange& credits)
      : there_(there), terms_(terms), credits_(credits) {
    if constexpr (!Access::in_place) stage_ = there.stage(layout().buffer_bytes);
  }

  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept {
    assert(size <= layout().max_payload());
    if (position_ - free_ >= layout().buffers && !refresh()) return nullptr;
    size_ = size;
    return buffer() + sizeof(one_sided_head);
  }

  /// First the message, then the flag, which names the buffer of the message after this one.
  void commit(const frame_head& what) noexcept {
    const std::uint64_t done = credits_.own.load(std::memory_order_relaxed);
    credits_.carried[position_ % layout().buffers].store(position_ << 32 | (done & UINT32_MAX),
                                                         std::memory_order_relaxed);
    const one_sided_head head{what.key, what.call, what.kind, static_cast<std::uint32_t>(done)};
    std::memcpy(buffer(), &head, sizeof head);
    const std::uint32_t next = index_ + 1 == layout().buffers ? 0 : index_ + 1;
    const one_sided_flag flag{one_sided_stamp(position_, terms_.epoch), next, static_cast<std::uint32_t>(size_)};
    if constexpr (!Access::in_place) {
      there_.write_block(layout().buffer(terms_.side, index_), stage_, sizeof head + size_);
    }
    there_.fence();
    there_.write_word(layout().flag(terms_.side, index_), flag.word());
    index_ = next;
    ++position_;
  }

  [[nodiscard]] std::uint64_t sent() const noexcept { return position_; }

  /// Too large where it cannot be known.
  [[nodiscard]] std::uint64_t consumed(std::uint64_t sent) const noexcept {
    if (Access::in_place && !terms_.tells_taken) return sent;
    const std::uint64_t word = there_.read_word(layout().consumed(terms_.side));
    return (word & counted) == 0 ? sent : std::min(word & ~counted, sent);
  }

  /// Where the next message will be built.
  [[nodiscard]] std::byte* buffer() const noexcept {
    if constexpr (Access::in_place)
      return there_.at(layout().buffer(terms_.side, index_));
    else
      return stage_;
  }

 private:
  [[nodiscard]] const one_sided_layout& layout() const noexcept { return terms_.layout; }

  /// What was piggybacked is at hand; the counter may be a remote access away.
  bool refresh() noexcept {
    const auto news = static_cast<std::uint32_t>(credits_.granted.load(std::memory_order_acquire) -
                                                 static_cast<std::uint32_t>(free_));
    if (news <= position_ - free_) free_ += news;  // a peer that lies gains nothing but its own confusion
    if (position_ - free_ < layout().buffers) return true;
    // An active receiver has its own copy of what it has taken.
    const std::uint64_t counter = Access::in_place ? layout().consumed(terms_.side) : layout().released(terms_.side);
    const std::uint64_t word = there_.read_word(counter);
    if ((word & counted) != 0) free_ = std::clamp(word & ~counted, free_, position_);
    return position_ - free_ < layout().buffers;
  }

  Access& there_;
  const one_sided_terms terms_;
  credit_exchange& credits_;
  std::byte* stage_ = nullptr;  // of a far side
  std::uint64_t position_ = 0;
  std::uint64_t free_ = 0;  // messages before this one have given their buffers back
  std::uint32_t index_ = 0;
  std::size_t size_ = 0;
};

}  // namespace ham::transport
