// OpenSSL measured bare.
#include "cipher_floor.hpp"

#include "timing.hpp"

#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace ham::bench {

namespace {

constexpr std::size_t record_bytes = 16384;
constexpr unsigned char cipher_id[] = {0x13, 0x02};  // TLS_AES_256_GCM_SHA384
constexpr unsigned char identity[] = "floor";

SSL_SESSION* fixed_session(SSL* ssl) {
  constexpr unsigned char key[32] = {1, 2, 3};
  SSL_SESSION* const result = SSL_SESSION_new();
  SSL_SESSION_set1_master_key(result, key, sizeof key);
  SSL_SESSION_set_cipher(result, SSL_CIPHER_find(ssl, cipher_id));
  SSL_SESSION_set_protocol_version(result, TLS1_3_VERSION);
  return result;
}

int offer(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* size, SSL_SESSION** session) {
  *id = identity;
  *size = sizeof identity;
  *session = fixed_session(ssl);
  return 1;
}

int find(SSL* ssl, const unsigned char*, std::size_t, SSL_SESSION** session) {
  *session = fixed_session(ssl);
  return 1;
}

}  // namespace

bool cipher_available() noexcept { return true; }

double aes_256_gcm_ns(std::span<const std::byte> data) {
  EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  constexpr unsigned char key[32] = {1, 2, 3};
  constexpr unsigned char nonce[12] = {};
  std::vector<unsigned char> out(record_bytes + 16);
  EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nullptr, key, nonce);
  const std::int64_t begin = now_ns();
  while (!data.empty()) {
    const std::size_t piece = std::min(data.size(), record_bytes);
    int size = 0;
    EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce);
    EVP_EncryptUpdate(context, out.data(), &size, reinterpret_cast<const unsigned char*>(data.data()),
                      static_cast<int>(piece));
    EVP_EncryptFinal_ex(context, out.data() + size, &size);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, out.data() + piece);
    data = data.subspan(piece);
  }
  const auto taken = static_cast<double>(now_ns() - begin);
  EVP_CIPHER_CTX_free(context);
  return taken;
}

struct tls_stream::parts {
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;

  ~parts() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
};

tls_stream::tls_stream(int socket, side which) : parts_(std::make_unique<parts>()) {
  const bool client = which == side::client;
  parts_->context = SSL_CTX_new(client ? TLS_client_method() : TLS_server_method());
  SSL_CTX_set_min_proto_version(parts_->context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(parts_->context, "TLS_AES_256_GCM_SHA384");
  SSL_CTX_set_num_tickets(parts_->context, 0);
  if (client)
    SSL_CTX_set_psk_use_session_callback(parts_->context, offer);
  else
    SSL_CTX_set_psk_find_session_callback(parts_->context, find);
  parts_->ssl = SSL_new(parts_->context);
  SSL_set_fd(parts_->ssl, socket);
  if ((client ? SSL_connect(parts_->ssl) : SSL_accept(parts_->ssl)) != 1) {
    throw std::runtime_error("OpenSSL shakes no hands for the floor of TLS");
  }
}

tls_stream::~tls_stream() = default;

void tls_stream::send(std::span<const std::byte> data) const {
  while (!data.empty()) {
    const int sent = SSL_write(parts_->ssl, data.data(), static_cast<int>(std::min(data.size(), record_bytes)));
    if (sent <= 0) throw std::runtime_error("the floor's TLS connection broke");
    data = data.subspan(static_cast<std::size_t>(sent));
  }
}

void tls_stream::receive(std::span<std::byte> into) const {
  while (!into.empty()) {
    const int got = SSL_read(parts_->ssl, into.data(), static_cast<int>(std::min(into.size(), record_bytes)));
    if (got <= 0) throw std::runtime_error("the floor's TLS connection broke");
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace ham::bench
