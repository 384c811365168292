// A blocking socket for bulk data: polls for a bounded time before it sleeps. A wake-up takes as long as many records,
// and the kernel likes to wake a receiver on its sender's core, where both then move at half the speed.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "transport/tcp/byte_stream.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {

/// Not thread-safe. The descriptor is somebody else's.
class patient_socket {
 public:
  enum class waiting : std::uint8_t { asleep, awake_at_first };
  using rest = blocking_stream::rest;

  /// Who waits for little waits for the next request, perhaps for long.
  [[nodiscard]] static waiting how_to_wait_for(std::span<std::byte> into) noexcept {
    return into.size() < 2048 ? waiting::asleep : waiting::awake_at_first;
  }

  void attach(int socket) noexcept { socket_ = socket; }
  [[nodiscard]] bool attached() const noexcept { return socket_ >= 0; }
  [[nodiscard]] std::size_t burst() const noexcept { return burst_bytes(socket_); }

  /// As ::recv and ::send, but never interrupted.
  [[nodiscard]] ssize_t receive(std::span<std::byte> into, waiting how) noexcept {
    return wait(how, POLLIN, [&](int flags) { return ::recv(socket_, into.data(), into.size(), flags); });
  }
  [[nodiscard]] ssize_t send(std::span<const std::byte> first, std::span<const std::byte> second = {},
                             rest of_them = rest::goes) noexcept {
    iovec parts[] = {{const_cast<std::byte*>(first.data()), first.size()},
                     {const_cast<std::byte*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const int always = of_them == rest::waits ? MSG_NOSIGNAL | MSG_MORE : MSG_NOSIGNAL;
    return wait(waiting::awake_at_first, POLLOUT,
                [&](int flags) { return ::sendmsg(socket_, &message, flags | always); });
  }

  /// What the kernel takes at once of it; the rest is lost.
  void send_now(std::span<const std::byte> bytes) const noexcept {
    static_cast<void>(!::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }

 private:
  static constexpr std::int64_t max_spin_ns = 200'000;
  static constexpr std::int64_t shortest_spin_ns = 2'000;

  template <class Call>
  ssize_t wait(waiting how, short event, Call&& call) noexcept {
    const std::int64_t begin = base::now_ns();
    if (how == waiting::awake_at_first) {
      const ssize_t moved = call(MSG_DONTWAIT);
      if (moved >= 0 || !(would_block(errno) || errno == EINTR)) return moved;
      watch(event, begin);
    }
    ssize_t moved = 0;
    do {
      moved = call(0);
    } while (moved < 0 && errno == EINTR);
    if (how == waiting::asleep) return moved;
    // As an engine's wait: longer from now on if that would have caught it, else shorter.
    const bool soon = base::now_ns() - begin < max_spin_ns;
    spin_ns_ = soon ? max_spin_ns : std::max(spin_ns_ / 2, shortest_spin_ns);
    return moved;
  }

  /// poll() does not take the socket's lock, which a concurrent send or receive needs.
  void watch(short event, std::int64_t begin) const noexcept {
    pollfd looked_at{socket_, event, 0};
    while (::poll(&looked_at, 1, 0) <= 0 && base::now_ns() - begin < spin_ns_) {
      base::yield();  // with more threads than cores, the one that is waited for may want this one
    }
  }

  int socket_ = -1;
  std::int64_t spin_ns_ = max_spin_ns;
};

}  // namespace ham::transport::tcp
