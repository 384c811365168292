// Bytes that have arrived, in one piece, so that frames can be looked at in place.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "base/drop_pages.hpp"
#include "transport/tcp/frame_format.hpp"

namespace ham::inline v1::transport::tcp {

/// Not thread-safe.
class receive_buffer {
 public:
  static constexpr std::size_t normal_bytes = std::size_t{320} << 10;
  static constexpr std::size_t slack_bytes = 64;  // readable behind the last payload

  [[nodiscard]] std::span<const std::byte> waiting() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }
  /// Takes the first `bytes` of waiting(): they stay where they are until release().
  void hold(std::size_t bytes) noexcept {
    begin_ += bytes;
    held_ = true;
  }
  void skip(std::size_t bytes) noexcept { begin_ += bytes; }
  void release() noexcept {
    held_ = false;
    retired_.reset();
  }

  /// Where more can go; never empty if nothing is held.
  [[nodiscard]] std::span<std::byte> room() noexcept {
    if (!held_) {
      if (begin_ == end_) {
        if (size_ > normal_bytes) shrink();
        begin_ = end_ = 0;
      } else if (size_ - end_ < head_bytes + largest_payload) {
        std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
      }
    }
    return {bytes_.get() + end_, size_ - end_};
  }
  /// The same, whatever it takes: for the last words of a peer. Throws std::bad_alloc; then nothing has changed.
  [[nodiscard]] std::span<std::byte> more_room() {
    if (size_ - end_ < normal_bytes / 2) {
      const std::size_t kept = end_ - begin_;
      const std::size_t bytes = 2 * kept + normal_bytes;
      std::unique_ptr<std::byte[]> grown(new std::byte[bytes + slack_bytes]);  // not touched before it is used
      std::memcpy(grown.get(), bytes_.get() + begin_, kept);
      bytes_.swap(grown);
      size_ = bytes;
      begin_ = 0;
      end_ = kept;
      if (held_ && retired_ == nullptr) retired_ = std::move(grown);
    }
    return {bytes_.get() + end_, size_ - end_};
  }
  void arrived(std::size_t bytes) noexcept { end_ += bytes; }
  /// Gives the memory back, unless a frame in it is held; nothing will arrive any more.
  void rest() noexcept {
    begin_ = end_ = 0;
    if (!held_) base::drop_pages({bytes_.get(), size_});
  }

 private:
  /// Back to the normal size, if there is memory for that.
  void shrink() noexcept {
    std::unique_ptr<std::byte[]> normal(new (std::nothrow) std::byte[normal_bytes + slack_bytes]);
    if (normal == nullptr) return;
    bytes_ = std::move(normal);
    size_ = normal_bytes;
  }

  std::unique_ptr<std::byte[]> bytes_{new std::byte[normal_bytes + slack_bytes]};
  std::unique_ptr<std::byte[]> retired_;  // holds a frame that was looked at when the buffer grew
  std::size_t size_ = normal_bytes;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool held_ = false;
};

}  // namespace ham::transport::tcp
