// OpenSSL measured bare.
#include "cipher_floor.hpp"

#include "timing.hpp"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr std::size_t record_bytes = 16384;
constexpr int tag_bytes = 16;
constexpr std::size_t sealed_bytes = 16336;  // a little less than a record: so many at once fill a packet of loopback
constexpr std::size_t records_at_once = 4;
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

/// AES-256-GCM with a fixed key. A tag stands behind what it belongs to.
class cipher {
 public:
  enum class direction { decrypt, encrypt };

  explicit cipher(direction which) {
    EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, key, nonce, which == direction::encrypt ? 1 : 0);
  }

  void seal(std::span<const std::byte> data, unsigned char* to) {
    const int size = static_cast<int>(data.size());
    int done = 0;
    EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce);
    EVP_EncryptUpdate(context_.get(), to, &done, reinterpret_cast<const unsigned char*>(data.data()), size);
    EVP_EncryptFinal_ex(context_.get(), to + size, &done);
    EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, to + size);
  }
  [[nodiscard]] bool open(unsigned char* from, std::span<std::byte> to) {
    auto* const out = reinterpret_cast<unsigned char*>(to.data());
    const int size = static_cast<int>(to.size());
    int done = 0;
    EVP_DecryptInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce);
    EVP_DecryptUpdate(context_.get(), out, &done, from, size);
    EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, from + size);
    return EVP_DecryptFinal_ex(context_.get(), out + size, &done) == 1;
  }

 private:
  struct give_back {
    void operator()(EVP_CIPHER_CTX* one) const { EVP_CIPHER_CTX_free(one); }
  };
  static constexpr unsigned char key[32] = {1, 2, 3};
  static constexpr unsigned char nonce[12] = {};
  std::unique_ptr<EVP_CIPHER_CTX, give_back> context_{EVP_CIPHER_CTX_new()};
};

}  // namespace

bool cipher_available() noexcept { return true; }

double aes_256_gcm_ns(std::span<const std::byte> data) {
  cipher with(cipher::direction::encrypt);
  std::vector<unsigned char> out(record_bytes + tag_bytes);
  const std::int64_t begin = now_ns();
  while (!data.empty()) {
    const std::size_t piece = std::min(data.size(), record_bytes);
    with.seal(data.first(piece), out.data());
    data = data.subspan(piece);
  }
  return static_cast<double>(now_ns() - begin);
}

void sealed_stream::send(std::span<const std::byte> data) const {
  cipher with(cipher::direction::encrypt);
  std::vector<unsigned char> out(records_at_once * (sealed_bytes + tag_bytes));
  while (!data.empty()) {
    std::size_t filled = 0;
    for (std::size_t i = 0; i < records_at_once && !data.empty(); ++i) {
      const std::size_t piece = std::min(data.size(), sealed_bytes);
      with.seal(data.first(piece), out.data() + filled);
      filled += piece + tag_bytes;
      data = data.subspan(piece);
    }
    for (std::size_t done = 0; done < filled;) {
      const ssize_t sent = ::send(socket_, out.data() + done, filled - done, MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("the floor's encrypted connection broke");
      done += static_cast<std::size_t>(sent);
    }
  }
}

void sealed_stream::receive(std::span<std::byte> into) const {
  cipher with(cipher::direction::decrypt);
  std::vector<unsigned char> in(2 * records_at_once * (sealed_bytes + tag_bytes));
  std::size_t begin = 0;
  std::size_t end = 0;
  while (!into.empty()) {
    const std::size_t piece = std::min(into.size(), sealed_bytes);
    if (end - begin >= piece + tag_bytes) {
      if (!with.open(in.data() + begin, into.first(piece))) throw std::runtime_error("the floor's bytes do not verify");
      begin += piece + tag_bytes;
      into = into.subspan(piece);
      continue;
    }
    std::memmove(in.data(), in.data() + begin, end - begin);
    end -= begin;
    begin = 0;
    const ssize_t got = ::recv(socket_, in.data() + end, in.size() - end, 0);
    if (got <= 0) throw std::runtime_error("the floor's encrypted connection broke");
    end += static_cast<std::size_t>(got);
  }
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
