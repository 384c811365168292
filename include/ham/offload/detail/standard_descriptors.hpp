// For the main of HAM's own programs: standard descriptors that were closed at the start are not given to others.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace ham::inline v1::detail {

/// Keeps descriptors that this program and its libraries open away from the standard numbers that it was started
/// without, where ordinary output would reach them. To use those numbers fails as before (EBADF). First of all in main.
inline void occupy_standard_descriptors() noexcept {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    const int taken = ::open("/", O_PATH | O_CLOEXEC);  // the lowest free number: this one
    if (taken > STDERR_FILENO) ::close(taken);
  }
}

}  // namespace ham::detail
