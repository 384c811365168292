// OpenSSL is given one whole record at a time, so that nothing of the next one hides in its buffers.
#include "transport/tcp/tls_openssl_records.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <climits>

#include "transport/tcp/tls_context_parts.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

int in_int(std::size_t bytes) { return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX)); }

}  // namespace

tls_openssl_records::tls_openssl_records(tls_wire& wire, ssl_st* ssl, tls_role role, handshake_secrets& secrets,
                                         std::uint64_t record_limit)
    : tls_record_layer(wire), ssl_(ssl), role_(role), secrets_(secrets), limit_(record_limit) {
  // What it decrypts it forgets.
  SSL_set_options(ssl_, SSL_OP_CLEANSE_PLAINTEXT);
  SSL_set_msg_callback(ssl_, on_message);
  SSL_set_msg_callback_arg(ssl_, this);
  wire_.bytes.offered = 0;
  wire_.bytes.held_back = true;
}

tls_openssl_records::~tls_openssl_records() { SSL_set_msg_callback(ssl_, nullptr); }

void tls_openssl_records::on_message(int written, int, int type, const void* message, std::size_t size, ssl_st*,
                                     void* self) {
  auto& layer = *static_cast<tls_openssl_records*>(self);
  if (type != SSL3_RT_HANDSHAKE || size == 0) return;
  using enum handshake_secrets::which;
  if (*static_cast<const unsigned char*>(message) != SSL3_MT_KEY_UPDATE) {
    layer.foreign_message_ |= written == 0;
    return;
  }
  const bool of_client = (layer.role_ == tls_role::client) == (written != 0);
  layer.secrets_.advance(of_client ? client_traffic : server_traffic);
  (written != 0 ? layer.written_ : layer.received_) = 0;
}

// ---- what is written

/// The lock is held.
void tls_openssl_records::take_output() {
  output_.clear();
  output_.swap(wire_.bytes.held);
}

/// The lock is not held: this may wait for the socket.
bool tls_openssl_records::pass_on() {
  if (wire_.own.socket.attached()) return wire_.own.append(output_);
  wire_.bytes.out.insert(wire_.bytes.out.end(), output_.begin(), output_.end());
  return true;
}

/// The lock is held.
bool tls_openssl_records::update_keys() {
  return SSL_key_update(ssl_, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 && SSL_do_handshake(ssl_) == 1;
}

bool tls_openssl_records::write(std::span<const std::byte> plain) {
  if (said_) return false;
  while (!plain.empty()) {
    const std::size_t piece = wire_.next_piece(plain.size());
    if (piece == 0) return false;
    {
      const std::lock_guard guard(mutex_);
      ERR_clear_error();
      if (broken_ || (written_ >= limit_ && !update_keys())) return false;
      if (SSL_write(ssl_, plain.data(), in_int(piece)) != in_int(piece)) return false;
      ++written_;
      take_output();
    }
    if (!pass_on()) return false;
    plain = plain.subspan(piece);
  }
  return true;
}

bool tls_openssl_records::renew() {
  {
    const std::lock_guard guard(mutex_);
    ERR_clear_error();
    if (broken_ || !update_keys()) return false;
    take_output();
  }
  return pass_on();
}

/// The last record, as far as it can be sent without waiting.
void tls_openssl_records::end() {
  if (said_) return;
  if (wire_.own.socket.attached() && wire_.own.size != 0) return;  // a record may be half gone
  said_ = true;
  {
    const std::lock_guard guard(mutex_);
    ERR_clear_error();
    if (!broken_) static_cast<void>(SSL_shutdown(ssl_));
    ERR_clear_error();
    take_output();
  }
  if (wire_.own.socket.attached())
    wire_.own.socket.send_now(output_);
  else
    static_cast<void>(pass_on());
}

// ---- what is read

/// The lock is held.
long tls_openssl_records::fail_by_openssl(int result) {
  const int error = SSL_get_error(ssl_, result);
  peer_ended_ = error == SSL_ERROR_ZERO_RETURN;
  broken_ = !peer_ended_;
  return fail(peer_ended_ ? "the connection ended" : openssl_failure(), tls_alert::close_notify);
}

long tls_openssl_records::open_one(std::span<std::byte> record, std::span<std::byte> into) {
  const std::lock_guard guard(mutex_);
  if (received_ > limit_) return fail("too many records with one key", tls_alert::unexpected_message);
  ++received_;
  ERR_clear_error();
  wire_.bytes.offered = record.size();
  const int got = SSL_read(ssl_, into.data(), in_int(into.size()));
  wire_.bytes.offered = 0;
  opened_ = static_cast<std::size_t>(SSL_pending(ssl_));
  const bool with_data = got > 0;
  if (!with_data && SSL_get_error(ssl_, got) != SSL_ERROR_WANT_READ) return fail_by_openssl(got);
  if (foreign_message_) return fail("a message of a handshake behind it", tls_alert::unexpected_message);
  const long result = count_record(with_data);
  return result != 0 ? result : std::max(got, 0);
}

long tls_openssl_records::hand_out(std::span<std::byte> into) {
  const std::lock_guard guard(mutex_);
  ERR_clear_error();
  const int got = SSL_read(ssl_, into.data(), in_int(into.size()));
  if (got <= 0) return fail_by_openssl(got);
  opened_ = static_cast<std::size_t>(SSL_pending(ssl_));
  return got;
}

/// OpenSSL reads it, too, for the sake of its alert.
long tls_openssl_records::refuse_head(record_head::status what) {
  const std::lock_guard guard(mutex_);
  ERR_clear_error();
  std::byte none{};
  wire_.bytes.offered = wire_.bytes.waiting().size();
  const int got = SSL_read(ssl_, &none, 1);
  wire_.bytes.offered = 0;
  if (got <= 0 && SSL_get_error(ssl_, got) != SSL_ERROR_WANT_READ) return fail_by_openssl(got);
  const bool too_long = what == record_head::status::too_long;
  return fail(too_long ? "a record too long" : "wrong version number", tls_alert::unexpected_message);
}

}  // namespace ham::transport::tcp
