// Connect, TLS, greeting: step by step, as the socket allows.
#include "transport/tcp/handshake.hpp"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "transport/tcp/socket.hpp"

namespace ham::transport::tcp {
namespace {

constexpr const char* key_advice =
    "the keys differ, or one side runs without security; give both sides the same key file";
/// More than any honest handshake of one step.
constexpr std::size_t most_handshake_bytes = 16384;

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
  connected_.socket = std::move(socket);
  if (tls != nullptr) connected_.tls = std::make_unique<tls_session>(std::move(tls));
}

handshake::handshake(base::unique_fd socket, std::shared_ptr<const tls_context> tls)
    : client_(false), stage_(tls != nullptr ? stage::securing : stage::greeting), size_(hello::bytes) {
  connected_.socket = std::move(socket);
  if (tls != nullptr) connected_.tls = std::make_unique<tls_session>(std::move(tls));
}

short handshake::wants() const noexcept { return stage_ == stage::connecting || !unsent_.empty() ? POLLOUT : POLLIN; }

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
    if (now == status::failed && connected_.tls != nullptr) {
      connected_.tls->end();
      static_cast<void>(send_output({}));  // as far as it goes at once
    }
    return now;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

handshake::status handshake::go_on() {
  if (!unsent_.empty()) {
    if (!send_output({})) return lost(errno);
    if (!unsent_.empty()) return status::pending;
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
  stage_ = connected_.tls != nullptr ? stage::securing : stage::greeting;
  if (stage_ == stage::greeting) {
    std::array<std::byte, hello::bytes> bytes;
    store_hello(bytes.data(), hello_);
    if (!send_output(bytes)) return lost(errno);
  }
  return status::greeted;
}

handshake::status handshake::secure() {
  tls_session& tls = *connected_.tls;
  for (;;) {
    const tls_session::status now = tls.shake_hands();
    if (!send_output({})) return lost(errno);
    if (now == tls_session::status::failed) {
      return fail("the TLS handshake failed: " + tls.failure() + " (" + key_advice + ")");
    }
    if (now == tls_session::status::done) break;
    std::size_t got = 0;
    if (const status read = read_ciphertext(most_handshake_bytes, got); read != status::greeted) return read;
  }
  stage_ = stage::greeting;
  if (!client_) return status::greeted;
  std::array<std::byte, hello::bytes> bytes;
  store_hello(bytes.data(), hello_);
  const bool written = tls.write(bytes);
  ::explicit_bzero(bytes.data(), bytes.size());
  if (!written) return fail("its greeting could not be encrypted");
  return send_output({}) ? status::greeted : lost(errno);
}

handshake::status handshake::greet() {
  while (have_ < size_) {
    if (const status now = read_greeting(); now != status::greeted) return now;
  }
  return understand();
}

handshake::status handshake::read_ciphertext(std::size_t most, std::size_t& got) {
  const std::span<std::byte> room = connected_.tls->input_room(most);
  const ssize_t count = ::recv(socket(), room.data(), std::min(room.size(), most), 0);
  if (count < 0 && (would_block(errno) || errno == EINTR)) return status::pending;
  if (count <= 0) return lost(count == 0 ? 0 : errno);
  silent_ = false;
  got = static_cast<std::size_t>(count);
  connected_.tls->feed(got);
  return status::greeted;
}

handshake::status handshake::read_greeting() {
  const std::span<std::byte> room{greeting_.data() + have_, size_ - have_};
  if (connected_.tls == nullptr) {
    const ssize_t count = ::recv(socket(), room.data(), room.size(), 0);
    if (count < 0 && (would_block(errno) || errno == EINTR)) return status::pending;
    if (count <= 0) return lost(count == 0 ? 0 : errno);
    silent_ = false;
    have_ += static_cast<std::size_t>(count);
    return status::greeted;
  }
  const long count = connected_.tls->read(room);
  if (count < 0) return fail(connected_.tls->failure() + " (" + key_advice + ")");
  have_ += static_cast<std::size_t>(count);
  std::size_t got = 0;
  return count > 0 ? status::greeted : read_ciphertext(most_handshake_bytes, got);
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
    if (connected_.tls != nullptr) connected_.tls->wipe_read();
  }
  return wrong == nullptr ? status::greeted : fail(wrong);
}

bool handshake::send_output(std::span<const std::byte> more) {
  unsent_.insert(unsent_.end(), more.begin(), more.end());
  if (connected_.tls != nullptr) {
    std::vector<std::byte>& out = connected_.tls->output();
    unsent_.insert(unsent_.end(), out.begin(), out.end());
    out.clear();
  }
  while (!unsent_.empty()) {
    const ssize_t sent = ::send(socket(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return would_block(errno);
    unsent_.erase(unsent_.begin(), unsent_.begin() + sent);
  }
  return true;
}

bool send_welcome(connection& to, const welcome& what) noexcept {
  try {
    std::array<std::byte, welcome::bytes> bytes;
    store_welcome(bytes.data(), what);
    std::vector<std::byte> wire(bytes.begin(), bytes.end());
    if (to.tls != nullptr) {
      if (!to.tls->write(bytes)) return false;
      if (what.answer != verdict::accepted) to.tls->end();
      wire.swap(to.tls->output());
      to.tls->output().clear();
    }
    return ::send(to.socket.get(), wire.data(), wire.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(wire.size());
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace ham::transport::tcp
