// The receiving side of a line ring. The sender is not trusted.
#pragma once

#include "transport/common/message_area.hpp"
#include "transport/common/ring_layout.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

enum class ring_status : std::uint8_t { empty, frame, broken };

/// Looks at arriving frames in place. One thread at a time.
class ring_reader {
 public:
  /// `area`: of the long messages of the same direction; empty: there is none.
  ring_reader(std::byte* lines, unsigned lines_log2, ring_control& control, std::uint32_t epoch,
              std::span<std::byte> area = {}) noexcept
      : lines_(lines), lines_log2_(lines_log2), control_(&control), epoch_(epoch), area_(area) {
    if (!area.empty()) control_->takes_long.store(1, std::memory_order_release);
  }

  [[nodiscard]] bool empty() const noexcept {
    return head_at(position_)->stamp.load(std::memory_order_acquire) != stamp_of(position_, lines_log2_);
  }

  /// Looks for the next frame up to `polls` times, as tightly as can be. True if it is there.
  [[nodiscard]] bool spin(unsigned polls) const noexcept {
    const std::atomic<std::uint32_t>& stamp = head_at(position_)->stamp;
    const std::uint32_t expected = stamp_of(position_, lines_log2_);
    for (; polls != 0; --polls) {
      if (stamp.load(std::memory_order_acquire) == expected) return true;
    }
    return false;
  }

  /// Whether the next frame, which is there, is short, of this kind, and for this call.
  [[nodiscard]] bool next_is(std::uint8_t kind, std::uint32_t call, std::size_t most) const noexcept {
    const line_head* const first = head_at(position_);
    const std::uint32_t size_and_kind = first->size_and_kind.load(std::memory_order_relaxed);
    return size_and_kind >> 24 == kind && (size_and_kind & size_mask) <= most &&
           first->call.load(std::memory_order_relaxed) == call;
  }

  [[nodiscard]] std::uint32_t next_call() const noexcept {
    return head_at(position_)->call.load(std::memory_order_relaxed);
  }

  /// The next frame, valid until release().
  [[nodiscard, gnu::always_inline]] ring_status poll(frame& out) noexcept {
    give_back();
    const std::uint64_t position = position_;
    const line_head* const first = head_at(position);
    if (first->stamp.load(std::memory_order_acquire) != stamp_of(position, lines_log2_)) return ring_status::empty;
    const std::uint32_t size_and_kind = first->size_and_kind.load(std::memory_order_relaxed);
    const std::size_t size = size_and_kind & size_mask;
    const auto kind = static_cast<std::uint8_t>(size_and_kind >> 24);
    out.head = {first->key.load(std::memory_order_relaxed) ^ epoch_, first->call.load(std::memory_order_relaxed), kind};
    out.payload = {reinterpret_cast<const std::byte*>(first) + head_bytes, size};
    const bool ordinary = kind != pad_kind && (kind & long_flag) == 0;
    if (size > first_line_payload || !ordinary) [[unlikely]]
      return poll_other(size, kind, out);
    held_ = 1;
    control_->taken.store(position + 1, std::memory_order_release);
    return ring_status::frame;
  }

  /// The frame is no longer needed. Two lines, and up to what holds 64 KiB, are given back later, when there is time,
  /// by give_back(). More would keep the writer waiting.
  void release() noexcept {
    if (held_long_) [[unlikely]] {
      held_long_ = false;
      area_.release();
    }
    position_ += held_;
    const bool later = held_ > 1 && held_ <= capacity() / 4 + 1;
    held_ = 0;
    if (!later) [[likely]]
      give_back();
  }
  /// Gives the lines of the last frame back, if they were not. To be called when nothing else is to be done, before a
  /// sleep; poll() does it as well.
  void give_back() noexcept {
    if (position_ != given_back_) [[unlikely]]
      give_back_lines();
  }

  void arm(bool on) noexcept {
    give_back();
    control_->armed.store(on ? 1 : 0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t max_fetched = 16;  ///< lines of a frame; while its head is looked at

  [[nodiscard]] std::uint64_t capacity() const noexcept { return std::uint64_t{1} << lines_log2_; }
  [[nodiscard]] std::uint64_t mask() const noexcept { return capacity() - 1; }
  [[nodiscard]] std::byte* line(std::uint64_t position) const noexcept {
    return lines_ + (position & mask()) * line_bytes;
  }
  [[nodiscard]] const line_head* head_at(std::uint64_t position) const noexcept {
    return reinterpret_cast<const line_head*>(line(position));
  }

  /// A frame of several lines, one that says where a long message is, or a pad. Its head and payload are set.
  [[gnu::noinline]] ring_status poll_other(std::size_t size, std::uint8_t kind, frame& out) noexcept {
    const std::uint64_t rest = capacity() - (position_ & mask());
    if (kind == pad_kind) return skip(size, rest, out);
    const std::uint64_t count = lines_of(size);
    if (count > rest || count > capacity() / 2) return ring_status::broken;
    for (std::uint64_t i = 1; i < count && i <= max_fetched; ++i) __builtin_prefetch(line(position_ + i));
    if ((kind & long_flag) != 0 && !take_long(out)) return ring_status::broken;
    held_ = count;
    control_->taken.store(position_ + count, std::memory_order_release);
    return ring_status::frame;
  }

  /// Payload may look like a stamp in a later lap: the further lines of the frame lose their first word.
  void give_back_lines() noexcept {
    while (++given_back_ != position_)
      reinterpret_cast<line_head*>(line(given_back_))->stamp.store(0, std::memory_order_relaxed);
    control_->released.store(position_, std::memory_order_release);
  }

  [[nodiscard]] bool take_long(frame& out) noexcept {
    out.head.kind &= static_cast<std::uint8_t>(~long_flag);
    out.payload = area_.take(out.payload);
    held_long_ = out.payload.data() != nullptr;
    return held_long_;
  }

  ring_status skip(std::size_t size, std::uint64_t rest, frame& out) noexcept {
    if (size != 0 || rest == capacity()) return ring_status::broken;  // a pad never fills a whole lap
    position_ += rest;
    given_back_ = position_;
    control_->taken.store(position_, std::memory_order_release);
    control_->released.store(position_, std::memory_order_release);
    return poll(out);  // once: the next position is the start of a lap, where a pad is refused
  }

  std::byte* lines_;
  unsigned lines_log2_;
  ring_control* control_;
  std::uint32_t epoch_;
  std::uint64_t position_ = 0;
  std::uint64_t given_back_ = 0;  // before which lines may be written again
  std::uint64_t held_ = 0;
  bool held_long_ = false;
  message_area_reader area_;
};

}  // namespace ham::transport
