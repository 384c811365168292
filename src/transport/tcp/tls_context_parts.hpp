// What the sessions of one key share with OpenSSL.
#pragma once

#include <openssl/ssl.h>

#include <cstring>
#include <string>

#include "transport/tcp/tls_session.hpp"

namespace ham::inline v1::transport::tcp {

inline constexpr const char* only_cipher = "TLS_AES_256_GCM_SHA384";
inline constexpr unsigned char cipher_id[] = {0x13, 0x02};

/// What went wrong in OpenSSL last on this thread.
[[nodiscard]] std::string openssl_failure();

struct tls_context::parts {
  SSL_CTX* context = nullptr;
  secret_key key;
  std::string identity;
  tls_role role = tls_role::client;
  tls_records records = tls_records::ham;

  ~parts() { SSL_CTX_free(context); }

  [[nodiscard]] SSL_SESSION* make_session(SSL* ssl) const {
    const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, cipher_id);
    SSL_SESSION* const session = SSL_SESSION_new();
    if (cipher != nullptr && session != nullptr &&
        SSL_SESSION_set1_master_key(session, reinterpret_cast<const unsigned char*>(key.data()), key.size()) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
      return session;
    }
    SSL_SESSION_free(session);
    return nullptr;
  }

  static const parts& of(SSL* ssl) { return *static_cast<const parts*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl))); }

  static int offer(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* size, SSL_SESSION** session) {
    const parts& mine = of(ssl);
    *id = reinterpret_cast<const unsigned char*>(mine.identity.data());
    *size = mine.identity.size();
    *session = mine.make_session(ssl);
    return *session != nullptr ? 1 : 0;
  }

  static int find(SSL* ssl, const unsigned char* id, std::size_t size, SSL_SESSION** session) {
    const parts& mine = of(ssl);
    const bool known = size == mine.identity.size() && std::memcmp(id, mine.identity.data(), size) == 0;
    *session = known ? mine.make_session(ssl) : nullptr;
    return 1;  // without a session the handshake finds no credentials and fails
  }
};

}  // namespace ham::transport::tcp
