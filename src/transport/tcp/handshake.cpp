// Connect, TLS, greeting: step by step, as the socket allows.
#include "transport/tcp/handshake.hpp"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr const char* key_advice =
    "the keys differ, or one side runs without security; give both sides the same key file";

const char* meaning(verdict answer) {
  switch (answer) {
    case verdict::accepted: break;
    case verdict::wrong_job: return "it belongs to another job";
    case verdict::crossed: return "it is connecting to this node itself";
    case verdict::not_now: return "it does not know this node, or has lost it before";
    case verdict::busy: return "another host came first";
    case verdict::full: return "it is busy: it serves as many hosts as it may at once (its --ham-jobs says how many)";
    case verdict::not_offered: return "it does not offer that: is the address right?";
  }
  return "";
}

}  // namespace

handshake::handshake(base::unique_fd socket, std::shared_ptr<const tls_context> tls, const hello& mine)
    : client_(true), stage_(stage::connecting), hello_(mine), size_(welcome::bytes) {
  connected_.bytes = make_stream(std::move(socket), std::move(tls));
}

handshake::handshake(base::unique_fd socket, std::shared_ptr<const tls_context> tls)
    : client_(false), stage_(stage::securing), size_(hello::bytes) {
  connected_.bytes = make_stream(std::move(socket), std::move(tls));
}

short handshake::wants() const noexcept { return stage_ == stage::connecting || has_unsent() ? POLLOUT : POLLIN; }

handshake::status handshake::fail(std::string why) {
  why_ = std::move(why);
  return status::failed;
}

handshake::status handshake::lost(int error) {
  hung_up_ = error == 0 || error == ECONNRESET || error == EPIPE;
  std::string what = error == 0 ? std::string("it closed the connection") : error_text(error);
  if (stage_ == stage::connecting) return fail(std::move(what));
  return fail(what + (stage_ == stage::securing ? " during the TLS handshake (" : " instead of greeting (") +
              key_advice + ")");
}

handshake::status handshake::step() noexcept {
  try {
    const status now = go_on();
    if (now == status::failed) {
      connected_.bytes->end();
      static_cast<void>(send_rest());  // as far as it goes at once
    }
    return now;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

handshake::status handshake::go_on() {
  if (has_unsent()) {
    if (!send_rest()) return lost(errno);
    if (has_unsent()) return status::pending;
  }
  status now = status::greeted;
  if (stage_ == stage::connecting) now = connect();
  if (now == status::greeted && stage_ == stage::securing) now = secure();
  if (now == status::greeted && stage_ == stage::greeting) now = greet();
  return now;
}

/// `greeted` stands for "this stage is over".
handshake::status handshake::connect() {
  if (const int error = connect_error(socket()); error != 0) return lost(error);
  if (remote_address(socket()).size == 0) return status::pending;
  if (remote_address(socket()).same_host(local_address(socket())) &&
      remote_address(socket()).port() == local_address(socket()).port()) {
    return fail("nobody listens there");  // TCP connected the socket with itself
  }
  stage_ = stage::securing;
  return status::greeted;
}

handshake::status handshake::secure() {
  for (;;) {
    const byte_stream::outcome now = connected_.bytes->establish();
    switch (now.what) {
      case byte_stream::status::moved: stage_ = stage::greeting; return client_ ? send_hello() : status::greeted;
      case byte_stream::status::partial: silent_ = false; continue;
      case byte_stream::status::later: return status::pending;
      case byte_stream::status::lost: return lost(now.error);
      case byte_stream::status::failed:
        return fail("the TLS handshake failed: " + connected_.bytes->failure() + " (" + key_advice + ")");
    }
  }
}

handshake::status handshake::send_hello() {
  std::array<std::byte, hello::bytes> bytes;
  store_hello(bytes.data(), hello_);
  const byte_stream::outcome sent = connected_.bytes->send(bytes);
  if (sent.what != byte_stream::status::failed)
    unsent_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(sent.bytes), bytes.end());
  ::explicit_bzero(bytes.data(), bytes.size());
  if (sent.what == byte_stream::status::failed) return fail("its greeting could not be encrypted");
  if (sent.what == byte_stream::status::lost) return lost(sent.error);
  return send_rest() ? status::greeted : lost(errno);
}

handshake::status handshake::greet() {
  while (have_ < size_) {
    const byte_stream::outcome got = connected_.bytes->receive({greeting_.data() + have_, size_ - have_});
    switch (got.what) {
      case byte_stream::status::moved: have_ += got.bytes; [[fallthrough]];
      case byte_stream::status::partial: silent_ = false; continue;
      case byte_stream::status::later: return status::pending;
      case byte_stream::status::lost: return lost(got.error);
      case byte_stream::status::failed: return fail(connected_.bytes->failure() + " (" + key_advice + ")");
    }
  }
  return understand();
}

handshake::status handshake::understand() {
  const char* wrong = nullptr;
  if (client_) {
    wrong = read_welcome(std::span<const std::byte, welcome::bytes>(greeting_.data(), welcome::bytes), hello_.nonce,
                         welcome_);
    connected_.epoch = welcome_.epoch;
    if (wrong == nullptr && welcome_.answer != verdict::accepted) wrong = meaning(welcome_.answer);
  } else {
    wrong = read_hello(std::span<const std::byte, hello::bytes>(greeting_.data(), hello::bytes), hello_);
    // An invitation holds the key of the job.
    ::explicit_bzero(greeting_.data(), greeting_.size());
    connected_.bytes->wipe_received();
  }
  return wrong == nullptr ? status::greeted : fail(wrong);
}

bool handshake::send_rest() {
  while (!unsent_.empty()) {
    const byte_stream::outcome sent = connected_.bytes->send(unsent_);
    if (sent.what != byte_stream::status::moved) return sent.what == byte_stream::status::later;
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
  }
  return connected_.bytes->flush().what != byte_stream::status::lost;
}

bool send_welcome(connection& to, const welcome& what) noexcept {
  try {
    std::array<std::byte, welcome::bytes> bytes;
    store_welcome(bytes.data(), what);
    const byte_stream::outcome sent = to.bytes->send(bytes);
    if (sent.what != byte_stream::status::moved || sent.bytes != bytes.size()) return false;
    if (what.answer != verdict::accepted) to.bytes->end();
    return to.bytes->flush().what == byte_stream::status::moved;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace ham::transport::tcp
