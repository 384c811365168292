// Records between a session and its socket.
#include "transport/tcp/tls_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

/// More than any honest handshake or greeting of one step.
constexpr std::size_t max_handshake_bytes = 16384;
constexpr std::size_t max_received_bytes = std::size_t{64} << 10;
constexpr std::size_t max_sealed_bytes = std::size_t{64} << 10;
constexpr std::size_t worth_opening = 256;  // room left; less would cost a call per few bytes

}  // namespace

tls_stream::tls_stream(base::unique_fd socket, std::shared_ptr<const tls_context> tls)
    : byte_stream(std::move(socket)), session_(std::make_unique<tls_session>(std::move(tls))) {}

byte_stream::outcome tls_stream::establish() {
  const tls_session::status now = session_->shake_hands();
  if (const outcome sent = flush(); sent.what == status::lost) return sent;
  if (now == tls_session::status::failed) return {status::failed, 0, EBADMSG};
  if (now == tls_session::status::done) return {status::moved};
  return receive_records(max_handshake_bytes);
}

/// At most so much; `partial` if there was anything.
byte_stream::outcome tls_stream::receive_records(std::size_t max_bytes) {
  const std::span<std::byte> room = session_->input_room(max_bytes);
  outcome got = receive_from_socket(room.first(std::min(room.size(), max_bytes)));
  if (got.what != status::moved) return got;
  session_->feed(got.bytes);
  return {status::partial};
}

std::size_t tls_stream::open(std::span<std::byte> into) {
  std::size_t all = 0;
  while (!failed_) {
    const long got = session_->read(into.subspan(all));
    failed_ = got < 0;
    if (got <= 0) break;
    all += static_cast<std::size_t>(got);
    if (into.size() - all < worth_opening || !session_->has_input()) break;
  }
  return all;
}

byte_stream::outcome tls_stream::receive(std::span<std::byte> into) {
  if (const std::size_t here = open(into); here != 0) return {status::moved, here};
  if (!failed_) {
    // Who asks for a greeting may be a stranger.
    const outcome got = receive_records(into.size() < max_handshake_bytes ? max_handshake_bytes : max_received_bytes);
    if (got.what != status::partial) return got;
    if (const std::size_t here = open(into); here != 0) return {status::moved, here};
  }
  if (failed_) return {status::failed, 0, session_->ended() ? 0 : EBADMSG};
  return {status::partial};
}

byte_stream::outcome tls_stream::send(std::span<const std::byte> bytes) {
  const std::span<const std::byte> now = bytes.first(std::min(bytes.size(), max_sealed_bytes));
  if (!session_->write(now)) return {status::failed, 0, EBADMSG};
  return {status::moved, now.size()};
}

byte_stream::outcome tls_stream::flush() {
  std::vector<std::byte>& out = session_->output();
  while (flushed_ != out.size()) {
    const outcome sent = send_to_socket(std::span(out).subspan(flushed_));
    if (sent.what != status::moved) return sent;
    flushed_ += sent.bytes;
  }
  out.clear();
  flushed_ = 0;
  return {status::moved};
}

std::size_t tls_stream::unsent() const noexcept {
  return session_ == nullptr ? 0 : session_->output().size() - flushed_;
}

void tls_stream::end() noexcept {
  try {
    session_->end();
  } catch (const std::bad_alloc&) {
    // The peer takes the end of the connection for a loss, which it is.
  }
}

std::unique_ptr<blocking_stream> tls_stream::make_blocking() {
  return std::make_unique<blocking_tls_stream>(take_socket(), std::move(session_));
}

void tls_stream::close() noexcept {
  byte_stream::close();
  session_.reset();
}

blocking_tls_stream::blocking_tls_stream(base::unique_fd socket, std::unique_ptr<tls_session> session)
    : blocking_stream(std::move(socket)), session_(std::move(session)) {
  tcp::make_blocking(this->socket());
  session_->attach(this->socket());
}

bool blocking_tls_stream::send(std::span<const std::byte> first, std::span<const std::byte> second, rest of_them) {
  return session_->write(first) && session_->write(second) && (of_them == rest::waits || session_->send_rest());
}

}  // namespace ham::transport::tcp
