// One thread at a time sends whole requests and receives whole answers.
#include "transport/tcp/lane.hpp"

#include <sys/socket.h>

#include <exception>

namespace ham::inline v1::transport::tcp {

lane::lane(connection with) : bytes_(with.bytes->make_blocking()) {}

bool lane::send(std::span<const std::byte> first, std::span<const std::byte> second) noexcept {
  return send(first, second, blocking_stream::rest::goes);
}

bool lane::send_part(std::span<const std::byte> part) noexcept { return send(part, {}, blocking_stream::rest::waits); }

bool lane::send(std::span<const std::byte> first, std::span<const std::byte> second,
                blocking_stream::rest rest) noexcept {
  try {
    return bytes_->send(first, second, rest);
  } catch (const std::exception&) {
    return false;
  }
}

bool lane::receive(std::span<std::byte> into) noexcept {
  try {
    while (!into.empty()) {
      const long got = bytes_->receive(into);
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

lane::~lane() { end(); }

void lane::end() noexcept {
  try {
    bytes_->end();
  } catch (const std::exception&) {
    // The peer sees the connection end.
  }
}

void lane::cut() const noexcept { ::shutdown(bytes_->socket(), SHUT_RDWR); }

}  // namespace ham::transport::tcp
