// Appending frames.
#include "frame_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ham::inline v1::transport::file {

frame_writer::frame_writer(int fd, std::uint64_t max_file_bytes)
    : fd_(fd), max_file_bytes_(max_file_bytes), room_(max_frame) {}

std::byte* frame_writer::reserve(std::size_t size) noexcept {
  if (size > max_payload || error() != 0) return nullptr;
  const std::uint64_t end = sent() + frame_bytes(size);
  if (end - consumed_ > window) {
    consumed_ = consumed();
    if (end - consumed_ > window) return nullptr;
  }
  reserved_ = size;
  return room_.data() + sizeof(frame_header);
}

void frame_writer::commit(const frame_head& head) noexcept {
  const frame_header header{sent(), static_cast<std::uint32_t>(reserved_), head.key, head.call, head.kind};
  const std::size_t bytes = frame_bytes(reserved_);
  std::memcpy(room_.data(), &header, sizeof header);
  std::fill(room_.begin() + static_cast<std::ptrdiff_t>(sizeof header + reserved_),
            room_.begin() + static_cast<std::ptrdiff_t>(bytes), std::byte{});
  if (frames_begin + header.position + bytes > max_file_bytes_) {  // the kernel would send a signal
    error_.store(EFBIG, std::memory_order_release);
    return;
  }
  sent_.store(header.position + bytes, std::memory_order_release);  // first: the peer may consume it at once
  for (std::size_t done = 0; done < bytes;) {
    const off_t at = static_cast<off_t>(frames_begin + header.position + done);
    const ssize_t wrote = ::pwrite(fd_, room_.data() + done, bytes - done, at);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      error_.store(wrote == 0 ? EIO : errno, std::memory_order_release);
      return;
    }
  }
}

std::uint64_t frame_writer::consumed() const noexcept {
  std::uint64_t said = 0;
  const bool read = ::pread(fd_, &said, sizeof said, consumed_at) == static_cast<ssize_t>(sizeof said);
  const std::uint64_t all = sent();
  if (read && said <= all) return said;
  if (read) malformed_.store(true, std::memory_order_relaxed);
  return all;
}

}  // namespace ham::transport::file
