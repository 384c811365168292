// Polling the length of a file, and taking frames out of it.
#include "frame_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ham::inline v1::transport::file {
namespace {

constexpr std::uint64_t freed_at_once = window / 4;
constexpr std::size_t read_ahead = 2 * max_frame;

}  // namespace

frame_reader::frame_reader(int fd) : fd_(fd), buffer_(read_ahead + readable_payload) {}

/// 0: the file cannot be asked.
std::uint64_t frame_reader::length() const noexcept {
  struct stat now {};
  return ::fstat(fd_, &now) == 0 ? static_cast<std::uint64_t>(now.st_size) : 0;
}

void frame_reader::fail() noexcept { error_.store(errno, std::memory_order_release); }

bool frame_reader::poll(frame& out) noexcept {
  if (malformed() || error() != 0) return false;
  if (!frame_is_here() && (malformed() || !read_more() || !frame_is_here())) return false;
  // Before the frame is handed on: after the death of this process it counts as one that may have been executed.
  const std::uint64_t looked_at = position_ + frame_bytes(header_.size);
  if (::pwrite(fd_, &looked_at, sizeof looked_at, consumed_at) != static_cast<ssize_t>(sizeof looked_at)) {
    fail();
    return false;
  }
  out.head = {header_.key, header_.call, static_cast<std::uint8_t>(header_.kind)};
  out.payload = {buffer_.data() + begin_ + sizeof header_, header_.size};
  return true;
}

bool frame_reader::frame_is_here() noexcept {
  const std::size_t here = end_ - begin_;
  if (here < sizeof header_) return false;
  std::memcpy(&header_, buffer_.data() + begin_, sizeof header_);
  if (!sane(header_, position_)) {
    malformed_.store(true, std::memory_order_relaxed);
    return false;
  }
  return here >= frame_bytes(header_.size);
}

bool frame_reader::read_more() noexcept {
  const std::uint64_t now = length();
  if (now < length_) {
    malformed_.store(true, std::memory_order_relaxed);
    return false;
  }
  length_ = now;
  const std::uint64_t read_so_far = frames_begin + position_ + (end_ - begin_);
  if (now == read_so_far) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t room = read_ahead - end_;  // never 0: what is here is less than a frame
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(now - read_so_far, room));
  const ssize_t got = ::pread(fd_, buffer_.data() + end_, wanted, static_cast<off_t>(read_so_far));
  if (got < 0 && errno != EINTR) fail();
  if (got <= 0) return false;
  end_ += static_cast<std::size_t>(got);
  return true;
}

void frame_reader::release() noexcept {
  const std::size_t bytes = frame_bytes(header_.size);
  begin_ += bytes;
  position_ += bytes;
  const std::uint64_t complete = position_ & ~(frames_begin - 1);
  if (complete - freed_ < freed_at_once) return;
  // If this fails the file takes more room, no more than that.
  static_cast<void>(::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(frames_begin + freed_), static_cast<off_t>(complete - freed_)));
  freed_ = complete;
}

bool frame_reader::empty() const noexcept {
  frame_header next;
  const std::size_t here = end_ - begin_;
  if (here >= sizeof next) {
    std::memcpy(&next, buffer_.data() + begin_, sizeof next);
    if (!sane(next, position_) || here >= frame_bytes(next.size)) return false;  // poll has something to say
  }
  return length() == length_ && length_ <= frames_begin + position_ + here;
}

}  // namespace ham::transport::file
