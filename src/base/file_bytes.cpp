#include "base/file_bytes.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace ham::inline v1::base {

std::size_t read_bytes(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

int write_bytes(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return errno;
    } else if (written == 0) {
      return EIO;
    }
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace ham::base
