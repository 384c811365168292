// Plain or encrypted, straight from and to the caller's memory.
#include "transport/tcp/lane.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "transport/tcp/socket.hpp"

namespace ham::transport::tcp {
namespace {
constexpr std::size_t received_at_once = std::size_t{1} << 20;
}  // namespace

lane::lane(connection with) : connected_(std::move(with)) {
  make_blocking(connected_.socket.get());
  socket_.attach(connected_.socket.get());
  if (connected_.tls != nullptr) connected_.tls->attach(connected_.socket.get());
}

bool lane::send(std::span<const std::byte> first, std::span<const std::byte> second) noexcept {
  return send(first, second, patient_socket::rest::goes);
}

bool lane::send_part(std::span<const std::byte> part) noexcept { return send(part, {}, patient_socket::rest::waits); }

bool lane::send(std::span<const std::byte> first, std::span<const std::byte> second,
                patient_socket::rest rest) noexcept {
  if (connected_.tls == nullptr) return send_plain(first, second, rest);
  try {
    tls_session& tls = *connected_.tls;
    return tls.write(first) && tls.write(second) && (rest == patient_socket::rest::waits || tls.send_rest());
  } catch (const std::exception&) {
    return false;
  }
}

bool lane::send_plain(std::span<const std::byte> first, std::span<const std::byte> second,
                      patient_socket::rest rest) noexcept {
  while (!first.empty() || !second.empty()) {
    const std::size_t burst = socket_.burst();
    const std::size_t room = burst - waiting_ % burst;
    const std::size_t now_first = std::min(first.size(), room);
    const std::size_t now_second = std::min(second.size(), room - now_first);
    const bool full = now_first + now_second == room;
    const ssize_t moved =
        socket_.send(first.first(now_first), second.first(now_second), full ? patient_socket::rest::goes : rest);
    if (moved <= 0) return false;
    const auto sent = static_cast<std::size_t>(moved);
    waiting_ = (waiting_ + sent) % burst;
    const std::size_t of_first = std::min(sent, first.size());
    first = first.subspan(of_first);
    second = second.subspan(sent - of_first);
  }
  if (rest == patient_socket::rest::goes) waiting_ = 0;
  return true;
}

bool lane::receive(std::span<std::byte> into) noexcept {
  try {
    while (!into.empty()) {
      const long got = connected_.tls != nullptr ? connected_.tls->read(into) : receive_plain(into);
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

long lane::receive_plain(std::span<std::byte> into) noexcept {
  return socket_.receive(into.first(std::min(into.size(), received_at_once)), patient_socket::how_to_wait_for(into));
}

lane::~lane() { end(); }

void lane::end() noexcept {
  try {
    if (connected_.tls != nullptr) connected_.tls->end();
  } catch (const std::exception&) {
    // The peer sees the connection end.
  }
}

void lane::cut() const noexcept { ::shutdown(connected_.socket.get(), SHUT_RDWR); }

}  // namespace ham::transport::tcp
