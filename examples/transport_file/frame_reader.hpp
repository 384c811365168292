// The receiving end of a file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "frame_format.hpp"

namespace ham::inline v1::transport::file {

/// Reads the peer's frames ahead into memory of this side, so that each byte is read once; polls the length of the
/// file. One thread at a time; malformed() and error() may be called by any.
class frame_reader {
 public:
  /// `fd` outlives this object.
  explicit frame_reader(int fd);

  /// The next frame, valid until release().
  [[nodiscard]] bool poll(frame& out) noexcept;
  void release() noexcept;
  /// Whether poll would find no more than it found last.
  [[nodiscard]] bool empty() const noexcept;

  /// The peer has written what is no frame, or has cut the file short.
  [[nodiscard]] bool malformed() const noexcept { return malformed_.load(std::memory_order_relaxed); }
  /// Why the file cannot be used; 0: it can.
  [[nodiscard]] int error() const noexcept { return error_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] bool frame_is_here() noexcept;
  [[nodiscard]] bool read_more() noexcept;
  [[nodiscard]] std::uint64_t length() const noexcept;
  void fail() noexcept;

  const int fd_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;                // of the next frame, in the buffer
  std::size_t end_ = 0;                  // of what has been read, in the buffer
  std::uint64_t position_ = 0;           // of the next frame, in the stream
  std::uint64_t freed_ = 0;              // whose blocks were given back up to here
  std::uint64_t length_ = frames_begin;  // of the file, when it was polled last
  frame_header header_;                  // of the next frame, once it is here
  std::atomic<bool> malformed_{false};
  std::atomic<int> error_{0};
};

}  // namespace ham::transport::file
