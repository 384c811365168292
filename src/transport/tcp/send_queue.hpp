// Frames that wait for the wire, built in place; knows which of them the kernel has got.
#pragma once

#include <cassert>
#include <cstring>
#include <memory>
#include <span>

#include "base/drop_pages.hpp"
#include "transport/tcp/frame_format.hpp"

namespace ham::inline v1::transport::tcp {

/// Not thread-safe; but what reserve() gave out may be written while others take bytes away.
class send_queue {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 20;

  explicit send_queue(std::uint32_t epoch) : bytes_(new std::byte[capacity + 64]), epoch_(epoch) {}

  /// Room for a payload behind its head; nullptr: none now.
  [[nodiscard]] std::byte* reserve(std::size_t payload) noexcept {
    assert(payload <= largest_payload);
    if (size_ == 0) clear();
    const std::size_t needed = head_bytes + payload;
    if (!wrapped_ && capacity - tail_ >= needed) {
      at_ = tail_;
    } else if (!wrapped_ && head_ > needed) {
      at_ = 0;
    } else if (wrapped_ && head_ - tail_ > needed) {
      at_ = tail_;
    } else {
      return nullptr;
    }
    reserved_ = payload;
    return bytes_.get() + at_ + head_bytes;
  }

  /// Appends what was reserved.
  void commit(wire_head head) noexcept {
    head.size = static_cast<std::uint32_t>(reserved_);
    store_head(bytes_.get() + at_, head, epoch_);
    if (at_ != tail_) {
      end_ = tail_;
      wrapped_ = true;
    }
    tail_ = at_ + head_bytes + reserved_;
    size_ += head_bytes + reserved_;
    settle();
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// What to send next; empty: nothing.
  [[nodiscard]] std::span<const std::byte> next() const noexcept {
    return {bytes_.get() + head_, (wrapped_ ? end_ : tail_) - head_};
  }
  /// `bytes` of next() have gone.
  void sent(std::size_t bytes) noexcept {
    head_ += bytes;
    size_ -= bytes;
    while (frame_end_ < head_) {
      const std::byte* const head = bytes_.get() + frame_end_;
      told(load<std::uint32_t>(head + 16), load<std::uint16_t>(head + 6));
      ++handed_;
      frame_end_ += head_bytes + load<std::uint32_t>(head);
    }
    settle();
  }
  /// No frame is half gone.
  [[nodiscard]] bool between_frames() const noexcept { return frame_end_ == head_; }
  /// Frames of which at least a byte has gone.
  [[nodiscard]] std::uint64_t handed() const noexcept { return handed_; }

  /// A head with these fields has gone, in a frame or in a notice.
  void told(std::uint32_t taken, std::uint16_t ahead) noexcept {
    acknowledged_ = taken;
    const std::uint32_t limit = taken + ahead;
    if (static_cast<std::int32_t>(limit - allowed_) > 0) allowed_ = limit;
  }
  /// What the peer knows: frames that we have taken, and up to which one we may take without a word; low 32 bits.
  [[nodiscard]] std::uint32_t acknowledged() const noexcept { return acknowledged_; }
  [[nodiscard]] std::uint32_t allowed() const noexcept { return allowed_; }

  /// Gives the memory back that was used; for queues that will not send any more.
  void rest() noexcept { base::drop_pages({bytes_.get(), capacity}); }

  /// Forgets what has not gone.
  void clear() noexcept {
    head_ = tail_ = frame_end_ = end_ = size_ = 0;
    wrapped_ = false;
  }

 private:
  /// Goes back to the begin where that can be: small calls then always use the same lines of the cache.
  void settle() noexcept {
    if (wrapped_ && head_ == end_) {
      head_ = frame_end_ = 0;
      wrapped_ = false;
    }
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::uint32_t epoch_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t end_ = 0;  // of what is valid behind head_, if wrapped
  bool wrapped_ = false;
  std::size_t size_ = 0;
  std::size_t frame_end_ = 0;  // of the frame that head_ is in
  std::size_t at_ = 0;
  std::size_t reserved_ = 0;
  std::uint64_t handed_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::uint32_t allowed_ = first_allowance;
};

}  // namespace ham::transport::tcp
