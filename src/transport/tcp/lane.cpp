// Plain or encrypted, straight from and to the caller's memory.
#include "transport/tcp/lane.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "transport/tcp/socket.hpp"

namespace ham::transport::tcp {

lane::lane(connection with) : connected_(std::move(with)) {
  make_blocking(connected_.socket.get());
  if (connected_.tls != nullptr) connected_.tls->attach(connected_.socket.get());
}

bool lane::send(std::span<const std::byte> first, std::span<const std::byte> second) noexcept {
  if (connected_.tls == nullptr) return send_plain(first, second);
  try {
    return connected_.tls->write(first) && connected_.tls->write(second) && connected_.tls->send_rest();
  } catch (const std::exception&) {
    return false;
  }
}

bool lane::send_plain(std::span<const std::byte> first, std::span<const std::byte> second) noexcept {
  while (!first.empty() || !second.empty()) {
    const std::size_t burst = burst_bytes(connected_.socket.get());
    const std::size_t now_first = std::min(first.size(), burst);
    const std::size_t now_second = std::min(second.size(), burst - now_first);
    iovec parts[] = {{const_cast<std::byte*>(first.data()), now_first},
                     {const_cast<std::byte*>(second.data()), now_second}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = ::sendmsg(connected_.socket.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    const std::size_t of_first = std::min(static_cast<std::size_t>(sent), first.size());
    first = first.subspan(of_first);
    second = second.subspan(static_cast<std::size_t>(sent) - of_first);
  }
  return true;
}

bool lane::receive(std::span<std::byte> into) noexcept {
  while (!into.empty()) {
    ssize_t got = 0;
    if (connected_.tls != nullptr) {
      got = connected_.tls->read(into);
    } else {
      got = ::recv(connected_.socket.get(), into.data(), into.size(), MSG_WAITALL);
      if (got < 0 && errno == EINTR) continue;
    }
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

void lane::cut() const noexcept { ::shutdown(connected_.socket.get(), SHUT_RDWR); }

}  // namespace ham::transport::tcp
