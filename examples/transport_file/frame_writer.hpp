// The sending end of a file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "frame_format.hpp"

namespace ham::inline v1::transport::file {

/// One thread at a time sends; consumed(), malformed() and error() may be called by any. A frame is built in memory of
/// this side, because the file's length is what announces it.
class frame_writer {
 public:
  /// `fd` outlives this object. Files of this process end at `max_file_bytes`.
  frame_writer(int fd, std::uint64_t max_file_bytes);

  /// nullptr: the peer is a window behind, or the file has failed.
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept;
  void commit(const frame_head& head) noexcept;

  /// Behind the last frame.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_.load(std::memory_order_acquire); }
  /// What the peer says; all that was sent if that cannot be.
  [[nodiscard]] std::uint64_t consumed() const noexcept;
  /// The peer says that it has looked at what was never sent.
  [[nodiscard]] bool malformed() const noexcept { return malformed_.load(std::memory_order_relaxed); }
  /// Why the file cannot be written to; 0: it can.
  [[nodiscard]] int error() const noexcept { return error_.load(std::memory_order_acquire); }

 private:
  const int fd_;
  const std::uint64_t max_file_bytes_;
  std::vector<std::byte> room_;
  std::size_t reserved_ = 0;    // bytes of payload
  std::uint64_t consumed_ = 0;  // as of the last time that the window was full
  std::atomic<std::uint64_t> sent_{0};
  mutable std::atomic<bool> malformed_{false};
  std::atomic<int> error_{0};
};

}  // namespace ham::transport::file
