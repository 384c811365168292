// Sends so much at once as fills packets.
#include "transport/tcp/plain_stream.hpp"

#include <algorithm>

#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {
constexpr std::size_t max_plain_bytes = std::size_t{1} << 20;
}  // namespace

std::unique_ptr<blocking_stream> plain_stream::make_blocking() {
  return std::make_unique<blocking_plain_stream>(take_socket());
}

blocking_plain_stream::blocking_plain_stream(base::unique_fd socket) : blocking_stream(std::move(socket)) {
  tcp::make_blocking(this->socket());
  patient_.attach(this->socket());
}

bool blocking_plain_stream::send(std::span<const std::byte> first, std::span<const std::byte> second, rest of_them) {
  while (!first.empty() || !second.empty()) {
    const std::size_t burst = patient_.burst();
    const std::size_t room = burst - waiting_ % burst;
    const std::size_t now_first = std::min(first.size(), room);
    const std::size_t now_second = std::min(second.size(), room - now_first);
    const bool full = now_first + now_second == room;
    const ssize_t moved = patient_.send(first.first(now_first), second.first(now_second), full ? rest::goes : of_them);
    if (moved <= 0) return false;
    const auto sent = static_cast<std::size_t>(moved);
    waiting_ = (waiting_ + sent) % burst;
    const std::size_t of_first = std::min(sent, first.size());
    first = first.subspan(of_first);
    second = second.subspan(sent - of_first);
  }
  if (of_them == rest::goes) waiting_ = 0;
  return true;
}

long blocking_plain_stream::receive(std::span<std::byte> into) {
  return patient_.receive(into.first(std::min(into.size(), max_plain_bytes)), patient_socket::how_to_wait_for(into));
}

}  // namespace ham::transport::tcp
