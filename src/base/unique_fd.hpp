// An owned file descriptor, never one of the standard ones.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ham::inline v1::base {

/// `fd` under a number above the standard descriptors; -1 with errno if there is none left, and `fd` is closed.
[[nodiscard]] inline int above_standard_descriptors(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int problem = errno;
  ::close(fd);
  errno = problem;
  return moved;
}

/// Closes its descriptor when it goes; -1 is none. In a process that was started with standard descriptors closed the
/// kernel gives their numbers to whatever is opened next, and ordinary output would go there: such ones are moved.
class unique_fd {
 public:
  unique_fd() noexcept = default;
  explicit unique_fd(int fd) noexcept : fd_(above_standard_descriptors(fd)) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));  // which is above the standard ones already
    return *this;
  }
  ~unique_fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = above_standard_descriptors(fd);
  }

 private:
  int fd_ = -1;
};

}  // namespace ham::base
