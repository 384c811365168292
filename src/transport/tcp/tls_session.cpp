// OpenSSL shakes hands; what follows is the business of a record layer (docs/decisions/0007-tls-records.md).
#include "transport/tcp/tls_session.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>

#include "transport/tcp/tls_context_parts.hpp"
#include "transport/tcp/tls_openssl_records.hpp"
#include "transport/tcp/tls_own_records.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr std::size_t received_at_once = 8 * (largest_content + record_overhead);  // with a socket of its own

int take_in(BIO* bio, char* to, int size) {
  auto& from = *static_cast<carrier*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  // What waits is the reader's: it is not even looked at by a thread that writes.
  const std::size_t most = std::min(static_cast<std::size_t>(size), from.offered);
  const std::size_t count = most == 0 ? 0 : std::min(most, from.waiting().size());
  if (count == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  std::memcpy(to, from.waiting().data(), count);
  from.begin += count;
  from.offered -= count;
  return static_cast<int>(count);
}

int put_out(BIO* bio, const char* data, int size) {
  auto& to = *static_cast<carrier*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte>& out = to.held_back ? to.held : to.out;
  out.insert(out.end(), bytes, bytes + size);
  return size;
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

bool has_ephemeral_key(SSL* ssl) {
  EVP_PKEY* key = nullptr;
  const bool has = SSL_get_peer_tmp_key(ssl, &key) == 1 && key != nullptr;
  EVP_PKEY_free(key);
  return has;
}

}  // namespace

// ---- what a session holds

struct tls_session::parts {
  std::shared_ptr<const tls_context> context;  // during the handshake only
  tls_role role = tls_role::client;
  const std::uint64_t record_limit;
  tls_wire wire;
  SSL* ssl = nullptr;   // of the handshake; with OpenSSL's records to the end
  std::string failure;  // of the handshake
  handshake_secrets secrets;
  std::unique_ptr<tls_record_layer> records;  // behind the handshake

  explicit parts(std::uint64_t limit) : record_limit(limit) {}
  ~parts() {
    records.reset();
    release_openssl();
  }

  void release_openssl() noexcept {
    release_key();
    if (ssl != nullptr) secrets.wipe_in(ssl);
    SSL_free(ssl);
    ssl = nullptr;
    secrets.wipe();
  }

  void release_key() noexcept {
    if (ssl != nullptr && context != nullptr) handshake_secrets::wipe_key_in(ssl, context->parts_->key);
    context.reset();  // and with it the key, if nobody else has the context
  }

  /// From here on there are records; so is what has come behind the handshake.
  [[nodiscard]] bool begin_records() {
    if (context->parts_->records == tls_records::openssl) {
      release_key();  // no callback that would want the context comes behind a handshake
      records = std::make_unique<tls_openssl_records>(wire, ssl, role, secrets, record_limit);
      return true;
    }
    using enum handshake_secrets::which;
    const auto mine = role == tls_role::client ? client_traffic : server_traffic;
    const auto theirs = role == tls_role::client ? server_traffic : client_traffic;
    auto own = std::make_unique<tls_own_records>(wire, record_limit);
    const bool good = secrets.knows(mine) && secrets.knows(theirs) && own->begin(secrets[mine], secrets[theirs]);
    release_openssl();
    if (good) records = std::move(own);
    return good;
  }
};

// ---- the session

tls_session::tls_session(std::shared_ptr<const tls_context> context, std::uint64_t record_limit)
    : parts_(std::make_unique<parts>(record_limit)) {
  parts_->context = std::move(context);
  const tls_context::parts& common = *parts_->context->parts_;
  parts_->role = common.role;
  ERR_clear_error();
  parts_->ssl = SSL_new(common.context);
  BIO* const bio = parts_->ssl == nullptr ? nullptr : BIO_new(method());
  if (bio == nullptr) throw config_error("OpenSSL cannot make a session (" + openssl_failure() + "); check memory");
  BIO_set_data(bio, &parts_->wire.bytes);
  BIO_set_init(bio, 1);
  SSL_set_bio(parts_->ssl, bio, bio);
  SSL_set_app_data(parts_->ssl, parts_.get());
  if (common.role == tls_role::client)
    SSL_set_connect_state(parts_->ssl);
  else
    SSL_set_accept_state(parts_->ssl);
}

tls_session::~tls_session() = default;

tls_session::status tls_session::shake_hands() {
  if (parts_->records != nullptr) return status::done;
  if (parts_->ssl == nullptr) return status::failed;
  ERR_clear_error();
  const int result = SSL_do_handshake(parts_->ssl);
  if (result == 1) {
    // The key was really used, by both sides, for what we want to be used, and with an ephemeral key besides.
    const bool used = SSL_session_reused(parts_->ssl) == 1 && SSL_version(parts_->ssl) == TLS1_3_VERSION &&
                      SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(parts_->ssl)) == 0x1302 &&
                      has_ephemeral_key(parts_->ssl);
    if (used && parts_->begin_records()) return status::done;
    parts_->failure = used ? "OpenSSL tells no traffic keys" : "the key was not used";
    if (!used) static_cast<void>(SSL_shutdown(parts_->ssl));
    return status::failed;
  }
  if (SSL_get_error(parts_->ssl, result) == SSL_ERROR_WANT_READ) return status::want_input;
  parts_->failure = openssl_failure();
  return status::failed;
}

bool tls_session::write(std::span<const std::byte> plain) {
  return parts_->records != nullptr && parts_->records->write(plain);
}
bool tls_session::send_rest() { return !parts_->wire.own.socket.attached() || parts_->wire.own.send(); }
bool tls_session::renew() { return parts_->records != nullptr && parts_->records->renew(); }
void tls_session::end() {
  if (parts_->records != nullptr) parts_->records->end();
}
bool tls_session::ended() const noexcept { return parts_->records != nullptr && parts_->records->ended(); }
void tls_session::learn(const SSL* ssl, const char* line) {
  static_cast<parts*>(SSL_get_app_data(ssl))->secrets.learn(line);
}

long tls_session::read(std::span<std::byte> into) {
  if (parts_->records != nullptr) return parts_->records->read(into);
  return parts_->ssl == nullptr && !into.empty() ? -1 : 0;
}

void tls_session::wipe_read() noexcept { OPENSSL_cleanse(parts_->wire.bytes.in.data(), parts_->wire.bytes.begin); }
std::span<std::byte> tls_session::input_room(std::size_t least) { return parts_->wire.bytes.room(least); }
void tls_session::feed(std::size_t bytes) noexcept { parts_->wire.bytes.end += bytes; }
bool tls_session::has_input() const noexcept {
  if (parts_->records != nullptr) return parts_->records->has_input();
  return read_record_head(parts_->wire.bytes.waiting()).is != record_head::status::incomplete;
}
std::vector<std::byte>& tls_session::output() noexcept { return parts_->wire.bytes.out; }
void tls_session::attach(int socket) {
  parts_->wire.own.socket.attach(socket);
  parts_->wire.own.begin();
  static_cast<void>(parts_->wire.bytes.room(received_at_once));
}
std::string tls_session::failure() const {
  return parts_->records != nullptr ? parts_->records->failure() : parts_->failure;
}

}  // namespace ham::transport::tcp
