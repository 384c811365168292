// The socket below every stream.
#include "transport/tcp/byte_stream.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "transport/tcp/plain_stream.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tls_stream.hpp"

namespace ham::inline v1::transport::tcp {

byte_stream::outcome byte_stream::send_to_socket(std::span<const std::byte> bytes) const noexcept {
  ssize_t sent = 0;
  do {
    sent = ::send(socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) [[likely]]
    return {status::moved, static_cast<std::size_t>(sent)};
  return {would_block(errno) ? status::later : status::lost, 0, errno};
}

byte_stream::outcome byte_stream::receive_from_socket(std::span<std::byte> into) const noexcept {
  const ssize_t got = ::recv(socket(), into.data(), into.size(), 0);
  if (got > 0) [[likely]]
    return {status::moved, static_cast<std::size_t>(got)};
  if (got == 0) return {status::lost};
  return {would_block(errno) || errno == EINTR ? status::later : status::lost, 0, errno};
}

std::unique_ptr<byte_stream> make_stream(base::unique_fd socket, std::shared_ptr<const tls_context> tls) {
  if (tls == nullptr) return std::make_unique<plain_stream>(std::move(socket));
  return std::make_unique<tls_stream>(std::move(socket), std::move(tls));
}

}  // namespace ham::transport::tcp
