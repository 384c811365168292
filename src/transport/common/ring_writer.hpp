// The sending side of a line ring.
#pragma once

#include <cassert>
#include <utility>

#include "transport/common/ring_layout.hpp"

namespace ham::inline v1::transport {

/// Builds frames in place. One thread at a time.
class ring_writer {
 public:
  ring_writer(std::byte* lines, unsigned lines_log2, ring_control& control, std::uint32_t epoch) noexcept
      : lines_(lines), lines_log2_(lines_log2), control_(&control), epoch_(epoch) {}

  /// At most half of the ring, so that a frame fits whatever the position.
  [[nodiscard]] std::size_t max_payload() const noexcept {
    return (std::size_t{1} << lines_log2_) / 2 * line_bytes - head_bytes;
  }

  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept {
    assert(size <= max_payload());
    const std::uint64_t needed = lines_of(size);
    const std::uint64_t at = position_ & mask();
    const std::uint64_t padding = at + needed > capacity() ? capacity() - at : 0;
    if (position_ + padding + needed > limit_ && !refresh(padding + needed)) [[unlikely]]
      return nullptr;
    if (padding != 0) [[unlikely]] {
      write(position_, {0, 0, pad_kind}, 0);
      position_ += padding;
    }
    reserved_ = size;
    reserved_lines_ = needed;
    return line(position_) + head_bytes;
  }

  /// Payload may look like an arrival stamp: what was written into continuation lines must not stay.
  void cancel() noexcept {
    for (std::uint64_t i = 1; i < reserved_lines_; ++i) {
      reinterpret_cast<line_head*>(line(position_ + i))->stamp.store(0, std::memory_order_relaxed);
    }
    reserved_lines_ = 0;
  }

  struct head {
    std::uint32_t key;
    std::uint32_t call;
    std::uint8_t kind;
  };

  /// Publishes the reserved frame. Gives the size of its payload.
  std::size_t commit(const head& what) noexcept {
    write(position_, what, reserved_);
    position_ += std::exchange(reserved_lines_, 0);
    return reserved_;
  }

  /// Where the next frame will be built.
  [[nodiscard]] const std::byte* next() const noexcept { return line(position_); }
  [[nodiscard]] bool receiver_armed() const noexcept { return control_->armed.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool receiver_takes_long() const noexcept {
    return control_->takes_long.load(std::memory_order_acquire) != 0;
  }
  [[nodiscard]] std::uint64_t sent() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t consumed() const noexcept { return control_->taken.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] std::uint64_t capacity() const noexcept { return std::uint64_t{1} << lines_log2_; }
  [[nodiscard]] std::uint64_t mask() const noexcept { return capacity() - 1; }
  [[nodiscard]] std::byte* line(std::uint64_t position) const noexcept {
    return lines_ + (position & mask()) * line_bytes;
  }

  bool refresh(std::uint64_t needed) noexcept {
    std::uint64_t released = control_->released.load(std::memory_order_acquire);
    if (released > position_) released = position_;  // a peer that lies gains nothing but its own confusion
    limit_ = released + capacity();
    return position_ + needed <= limit_;
  }

  void write(std::uint64_t position, const head& what, std::size_t size) noexcept {
    auto* first = reinterpret_cast<line_head*>(line(position));
    first->key.store(what.key ^ epoch_, std::memory_order_relaxed);
    first->call.store(what.call, std::memory_order_relaxed);
    first->size_and_kind.store(static_cast<std::uint32_t>(size) | static_cast<std::uint32_t>(what.kind) << 24,
                               std::memory_order_relaxed);
    first->stamp.store(stamp_of(position, lines_log2_), std::memory_order_release);
  }

  std::byte* lines_;
  unsigned lines_log2_;
  ring_control* control_;
  std::uint32_t epoch_;
  std::uint64_t position_ = 0;
  std::uint64_t limit_ = 0;  // position that must not be passed before `released` is read again
  std::size_t reserved_ = 0;
  std::uint64_t reserved_lines_ = 0;  // 0: nothing is reserved
};

}  // namespace ham::transport
