// OpenSSL with nothing but TLS 1.3, one cipher, and external pre-shared keys: no certificates, tickets or early data.
#include "transport/tcp/tls_session.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ham::transport::tcp {
namespace {

constexpr const char* only_cipher = "TLS_AES_256_GCM_SHA384";
constexpr unsigned char cipher_id[] = {0x13, 0x02};
constexpr std::size_t record_bytes = 16384;
constexpr std::size_t socket_bytes = std::size_t{128} << 10;  // at once, with a socket of its own

struct bytes_queue {
  std::vector<std::byte> bytes;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What a BIO of ours stands on.
struct carrier {
  bytes_queue in;
  std::vector<std::byte> out;
  int socket = -1;

  /// One system call for many records. False: the connection ended.
  bool receive() {
    in.bytes.resize(std::max(in.bytes.size(), socket_bytes));
    in.begin = in.end = 0;
    ssize_t got = 0;
    do {
      got = ::recv(socket, in.bytes.data(), in.bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    in.end = static_cast<std::size_t>(got);
    return true;
  }

  bool send() {
    for (std::size_t done = 0; done < out.size();) {
      const ssize_t sent = ::send(socket, out.data() + done, out.size() - done, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    out.clear();
    return true;
  }
};

int take_in(BIO* bio, char* to, int size) {
  auto& from = *static_cast<carrier*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  if (from.in.begin == from.in.end) {
    if (from.socket < 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    if (!from.receive()) return 0;
  }
  const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(size), from.in.end - from.in.begin);
  std::memcpy(to, from.in.bytes.data() + from.in.begin, count);
  from.in.begin += count;
  return static_cast<int>(count);
}

int put_out(BIO* bio, const char* data, int size) {
  auto& to = *static_cast<carrier*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  to.out.insert(to.out.end(), bytes, bytes + size);
  if (to.socket < 0 || to.out.size() < socket_bytes) return size;
  return to.send() ? size : -1;
}

long control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* method() {
  static BIO_METHOD* const made = [] {
    BIO_METHOD* const fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "ham");
    BIO_meth_set_read(fresh, take_in);
    BIO_meth_set_write(fresh, put_out);
    BIO_meth_set_ctrl(fresh, control);
    return fresh;
  }();
  return made;
}

std::string openssl_failure() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "the connection ended";
  const char* const reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "an error without a name";
}

}  // namespace

std::string why_no_tls() { return {}; }

// ---- the context

struct tls_context::parts {
  SSL_CTX* context = nullptr;
  secret_key key{};
  std::string identity;
  tls_role role = tls_role::client;

  ~parts() {
    SSL_CTX_free(context);
    OPENSSL_cleanse(key.data(), key.size());
  }

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

tls_context::tls_context(tls_role role, const secret_key& key, const char* identity)
    : parts_(std::make_unique<parts>()) {
  parts_->key = key;
  parts_->identity = identity;
  parts_->role = role;
  SSL_CTX* const context = SSL_CTX_new(role == tls_role::client ? TLS_client_method() : TLS_server_method());
  parts_->context = context;
  const bool usable = context != nullptr && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
                      SSL_CTX_set_ciphersuites(context, only_cipher) == 1 &&
                      SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 &&
                      SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_max_early_data(context, 0) == 1;
  if (!usable)
    throw config_error("OpenSSL refuses TLS 1.3 with " + std::string(only_cipher) + " (" + openssl_failure() +
                       "); check the installation and its policy");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
  // Nobody is trusted by certificate: a server that shows one instead of knowing the key fails.
  SSL_CTX_set_verify(context, role == tls_role::client ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_app_data(context, parts_.get());
  if (role == tls_role::client)
    SSL_CTX_set_psk_use_session_callback(context, &parts::offer);
  else
    SSL_CTX_set_psk_find_session_callback(context, &parts::find);
}

tls_context::~tls_context() = default;

// ---- the session

struct tls_session::parts {
  std::shared_ptr<const tls_context> context;
  carrier bytes;
  SSL* ssl = nullptr;
  std::string failure;

  ~parts() { SSL_free(ssl); }
};

tls_session::tls_session(std::shared_ptr<const tls_context> context) : parts_(std::make_unique<parts>()) {
  parts_->context = std::move(context);
  const tls_context::parts& common = *parts_->context->parts_;
  ERR_clear_error();
  parts_->ssl = SSL_new(common.context);
  BIO* const bio = parts_->ssl == nullptr ? nullptr : BIO_new(method());
  if (bio == nullptr) throw config_error("OpenSSL cannot make a session (" + openssl_failure() + "); check memory");
  BIO_set_data(bio, &parts_->bytes);
  BIO_set_init(bio, 1);
  SSL_set_bio(parts_->ssl, bio, bio);
  if (common.role == tls_role::client)
    SSL_set_connect_state(parts_->ssl);
  else
    SSL_set_accept_state(parts_->ssl);
}

tls_session::~tls_session() = default;

tls_session::status tls_session::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(parts_->ssl);
  if (result == 1) {
    // The key was really used, by both sides, for what we want to be used.
    if (SSL_session_reused(parts_->ssl) == 1 && SSL_version(parts_->ssl) == TLS1_3_VERSION) return status::done;
    parts_->failure = "the key was not used";
    return status::failed;
  }
  if (SSL_get_error(parts_->ssl, result) == SSL_ERROR_WANT_READ) return status::want_input;
  parts_->failure = openssl_failure();
  return status::failed;
}

bool tls_session::write(std::span<const std::byte> plain) {
  while (!plain.empty()) {
    const std::size_t piece = std::min(plain.size(), record_bytes);
    const int written = SSL_write(parts_->ssl, plain.data(), static_cast<int>(piece));
    if (written <= 0) {
      parts_->failure = openssl_failure();
      return false;
    }
    plain = plain.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool tls_session::send_rest() { return parts_->bytes.socket < 0 || parts_->bytes.send(); }

long tls_session::read(std::span<std::byte> into) {
  if (into.empty()) return 0;
  const int size = static_cast<int>(std::min<std::size_t>(into.size(), 1U << 30));
  const int got = SSL_read(parts_->ssl, into.data(), size);
  if (got > 0) return got;
  if (SSL_get_error(parts_->ssl, got) == SSL_ERROR_WANT_READ && parts_->bytes.socket < 0) return 0;
  parts_->failure = openssl_failure();
  return -1;
}

std::span<std::byte> tls_session::input_room(std::size_t least) {
  bytes_queue& in = parts_->bytes.in;
  if (in.begin == in.end) in.begin = in.end = 0;
  if (in.bytes.size() - in.end < least) {
    std::copy(in.bytes.begin() + static_cast<std::ptrdiff_t>(in.begin),
              in.bytes.begin() + static_cast<std::ptrdiff_t>(in.end), in.bytes.begin());
    in.end -= in.begin;
    in.begin = 0;
    if (in.bytes.size() - in.end < least) in.bytes.resize(in.end + least);
  }
  return {in.bytes.data() + in.end, in.bytes.size() - in.end};
}

void tls_session::feed(std::size_t bytes) noexcept { parts_->bytes.in.end += bytes; }
bool tls_session::has_input() const noexcept {
  return parts_->bytes.in.begin != parts_->bytes.in.end || SSL_pending(parts_->ssl) > 0;
}
std::vector<std::byte>& tls_session::output() noexcept { return parts_->bytes.out; }
void tls_session::attach(int socket) noexcept { parts_->bytes.socket = socket; }
std::string tls_session::failure() const { return parts_->failure; }

}  // namespace ham::transport::tcp
