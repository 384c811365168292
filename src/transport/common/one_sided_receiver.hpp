// The receiving side of a one-sided ring, active or passive. The sender is not trusted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "transport/common/one_sided_sender.hpp"
#include "transport/common/ring_reader.hpp"

namespace ham::inline v1::transport {

/// Polls the flag of the buffer that comes next. In place a message is looked at where it is; the active side fetches
/// it. One thread at a time.
template <memory_access Access>
class one_sided_receiver {
 public:
  one_sided_receiver(Access& there, const one_sided_terms& terms, credit_exchange& credits)
      : there_(there), terms_(terms), credits_(credits) {
    if constexpr (!Access::in_place) stage_ = there.stage(layout().buffer_bytes);
  }

  [[nodiscard]] bool empty() const noexcept { return !awaited(there_.read_word(flag_at())); }

  /// The next frame, valid until release().
  [[nodiscard]] ring_status poll(frame& out) noexcept {
    const std::uint64_t word = there_.read_word(flag_at());
    if (!awaited(word)) return ring_status::empty;
    const one_sided_flag flag = one_sided_flag::of(word);
    if (flag.size > layout().max_payload() || flag.next >= layout().buffers) return ring_status::broken;
    there_.fence();
    const std::byte* const message = fetch(flag.size);
    one_sided_head head{};
    std::memcpy(&head, message, sizeof head);
    if (there_.failed()) return ring_status::empty;
    if (head.kind == 0 || head.kind > 0x7f) return ring_status::broken;
    credits_.granted.store(head.credit, std::memory_order_release);
    out.head = {head.key, head.call, static_cast<std::uint8_t>(head.kind)};
    out.payload = {message + sizeof head, flag.size};
    index_ = flag.next;
    ++position_;
    acknowledge(head.credit);
    return ring_status::frame;
  }

  void release() noexcept {
    if constexpr (Access::in_place) {
      credits_.own.store(position_, std::memory_order_relaxed);
      there_.write_word(layout().released(direction()), counted | position_);
    }
  }

 private:
  [[nodiscard]] const one_sided_layout& layout() const noexcept { return terms_.layout; }
  [[nodiscard]] unsigned direction() const noexcept { return 1 - terms_.side; }
  [[nodiscard]] std::uint64_t flag_at() const noexcept { return layout().flag(direction(), index_); }
  [[nodiscard]] bool awaited(std::uint64_t word) const noexcept {
    return word >> 63 != 0 && one_sided_flag::of(word).stamp == one_sided_stamp(position_, terms_.epoch);
  }

  const std::byte* fetch(std::size_t size) noexcept {
    const std::uint64_t at = layout().buffer(direction(), index_);
    if constexpr (Access::in_place) {
      return there_.at(at);
    } else {
      there_.read_block(at, stage_, sizeof(one_sided_head) + size);
      return stage_;
    }
  }

  /// `granted`: of our messages, how many the peer has received. The credit in others may never reach it: it may be
  /// waiting for room before it receives anything.
  void acknowledge(std::uint32_t granted) noexcept {
    if constexpr (Access::in_place) {
      there_.write_word(layout().consumed(direction()), counted | position_);
    } else {
      credits_.own.store(position_, std::memory_order_relaxed);
      if (!terms_.tells_taken) {
        learn_what_it_knows(granted - 1);
        if (position_ - acknowledged_ < layout().buffers / 4) return;
      }
      acknowledged_ = position_;
      there_.write_word(layout().consumed(direction()), counted | position_);
    }
  }

  /// The peer has looked at our message of this position (low bits): it has the credit that this one carried, unless a
  /// later message has taken its place in the books.
  void learn_what_it_knows(std::uint32_t seen) noexcept {
    const std::uint64_t entry = credits_.carried[seen % layout().buffers].load(std::memory_order_relaxed);
    const auto behind = static_cast<std::uint32_t>(position_) - static_cast<std::uint32_t>(entry);
    if (entry >> 32 == seen && behind <= position_ - acknowledged_) acknowledged_ = position_ - behind;
  }

  Access& there_;
  const one_sided_terms terms_;
  credit_exchange& credits_;
  std::byte* stage_ = nullptr;  // of a far side
  std::uint64_t position_ = 0;
  std::uint64_t acknowledged_ = 0;  // of these, how many the peer knows of
  std::uint32_t index_ = 0;
};

}  // namespace ham::transport
