// OpenSSL as the peer of a session, over memory, for tests.
#pragma once

#if defined(HAM_TCP_TLS)
#include <openssl/ssl.h>

#include <cstring>
#include <ostream>

#include "transport/tcp/nodes.hpp"
#include "transport/tcp/tls_secrets.hpp"

namespace ham::inline v1::transport::tcp {

inline void PrintTo(tls_role which, std::ostream* out) { *out << (which == tls_role::client ? "client" : "server"); }

namespace test {

inline tls_role opposite(tls_role which) { return which == tls_role::client ? tls_role::server : tls_role::client; }

/// OpenSSL and nothing else, over memory.
class reference {
 public:
  explicit reference(tls_role role) : context_(SSL_CTX_new(TLS_method())) {
    SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context_, "TLS_AES_256_GCM_SHA384");
    SSL_CTX_set_num_tickets(context_, 0);
    SSL_CTX_set_psk_use_session_callback(context_, offer);
    SSL_CTX_set_psk_find_session_callback(context_, find);
    SSL_CTX_set_app_data(context_, &secrets_);
    SSL_CTX_set_keylog_callback(context_, [](const SSL* of, const char* line) {
      static_cast<handshake_secrets*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(of)))->learn(line);
    });
    ssl_ = SSL_new(context_);
    BIO_new_bio_pair(&inner_, 1 << 20, &outer_, 1 << 20);
    SSL_set_bio(ssl_, inner_, inner_);
    if (role == tls_role::client)
      SSL_set_connect_state(ssl_);
    else
      SSL_set_accept_state(ssl_);
  }
  ~reference() {
    SSL_free(ssl_);
    BIO_free(outer_);
    SSL_CTX_free(context_);
  }
  reference(const reference&) = delete;
  reference& operator=(const reference&) = delete;

  [[nodiscard]] SSL* ssl() const { return ssl_; }
  [[nodiscard]] const handshake_secrets& secrets() const { return secrets_; }

  void give_to(tls_session& other) const {
    const std::span<std::byte> room = other.input_room(BIO_pending(outer_));
    if (const int got = BIO_read(outer_, room.data(), static_cast<int>(room.size())); got > 0)
      other.feed(static_cast<std::size_t>(got));
  }
  void take_from(tls_session& other) const {
    std::vector<std::byte>& out = other.output();
    if (!out.empty()) {
      EXPECT_EQ(BIO_write(outer_, out.data(), static_cast<int>(out.size())), static_cast<int>(out.size()));
    }
    out.clear();
  }
  void shake(tls_session& other) const {
    for (int i = 0; i < 4; ++i) {
      static_cast<void>(SSL_do_handshake(ssl_));
      give_to(other);
      static_cast<void>(other.shake_hands());
      take_from(other);
    }
    ASSERT_EQ(SSL_do_handshake(ssl_), 1);
    ASSERT_EQ(other.shake_hands(), tls_session::status::done) << other.failure();
  }

 private:
  static SSL_SESSION* session(SSL* ssl) {
    constexpr unsigned char cipher[] = {0x13, 0x02};
    const secret_key key = key_of(1);
    SSL_SESSION* const result = SSL_SESSION_new();
    SSL_SESSION_set1_master_key(result, reinterpret_cast<const unsigned char*>(key.data()), key.size());
    SSL_SESSION_set_cipher(result, SSL_CIPHER_find(ssl, cipher));
    SSL_SESSION_set_protocol_version(result, TLS1_3_VERSION);
    return result;
  }
  static int offer(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* size, SSL_SESSION** out) {
    *id = reinterpret_cast<const unsigned char*>(job_identity);
    *size = std::strlen(job_identity);
    *out = session(ssl);
    return 1;
  }
  static int find(SSL* ssl, const unsigned char*, std::size_t, SSL_SESSION** out) {
    *out = session(ssl);
    return 1;
  }

  handshake_secrets secrets_;
  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  BIO* inner_ = nullptr;
  BIO* outer_ = nullptr;
};

/// With a buffer of `room` bytes at a time.
inline bytes read_all(tls_session& from, std::size_t room) {
  bytes result;
  bytes buffer(room);
  for (long got = 0; (got = from.read(buffer)) > 0;) result.insert(result.end(), buffer.begin(), buffer.begin() + got);
  return result;
}

inline bytes read_all(SSL* from) {
  bytes result;
  std::byte buffer[4000];
  for (int got = 0; (got = SSL_read(from, buffer, sizeof buffer)) > 0;)
    result.insert(result.end(), buffer, buffer + got);
  return result;
}

}  // namespace test
}  // namespace ham::transport::tcp
#endif
