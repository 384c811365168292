// Handshakes of OpenSSL with nothing but TLS 1.3, one cipher, and external pre-shared keys: no certificates, tickets or
// early data. Records after the handshake are our own business (docs/decisions/0007-tls-records.md).
#include "transport/tcp/tls_session.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "transport/tcp/patient_socket.hpp"
#include "transport/tcp/tls_records.hpp"

namespace ham::transport::tcp {
namespace {

constexpr const char* only_cipher = "TLS_AES_256_GCM_SHA384";
constexpr unsigned char cipher_id[] = {0x13, 0x02};
constexpr std::size_t worth_it = 2048;  // opened straight into the caller's memory
constexpr std::size_t received_at_once = 8 * (largest_content + record_overhead);  // with a socket of its own

/// Bytes that came from the peer, and bytes that go there.
struct carrier {
  std::vector<std::byte> in;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<std::byte> out;

  [[nodiscard]] std::span<std::byte> waiting() noexcept { return {in.data() + begin, end - begin}; }
  [[nodiscard]] std::span<std::byte> room(std::size_t least) {
    if (begin == end) begin = end = 0;
    if (in.size() - end < least) {
      if (begin != end) std::memmove(in.data(), in.data() + begin, end - begin);
      end -= begin;
      begin = 0;
      if (in.size() - end < least) in.resize(end + least);
    }
    return {in.data() + end, in.size() - end};
  }
};

/// A blocking socket, many records with one system call.
struct stream {
  patient_socket socket;
  std::vector<std::byte> out;
  std::size_t size = 0;                        // of what waits in `out`
  std::size_t most_content = largest_content;  // of a record

  /// The next burst: as many records as fill it, all of the same size, in whole blocks of the cipher.
  void begin() {
    constexpr std::size_t block = 16;
    const std::size_t burst = socket.burst();
    if (out.size() == burst) return;
    const std::size_t records = (burst - 1) / (largest_content + record_overhead) + 1;
    most_content = (burst / records - record_overhead) / block * block;
    out.resize(burst);
  }

  /// False: the connection ended.
  [[nodiscard]] bool receive(carrier& into, patient_socket::waiting how) {
    const ssize_t got = socket.receive(into.room(largest_content + 256 + record_overhead), how);
    if (got > 0) into.end += static_cast<std::size_t>(got);
    return got > 0;
  }

  [[nodiscard]] bool send() {
    for (std::size_t done = 0; done < size;) {
      const ssize_t sent = socket.send({out.data() + done, size - done});
      if (sent <= 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    size = 0;
    return true;
  }

  /// So that `bytes` more fit into `out`. False: the connection broke.
  [[nodiscard]] bool make_room(std::size_t bytes) { return size + bytes <= out.size() || send(); }
};

int take_in(BIO* bio, char* to, int size) {
  auto& from = *static_cast<carrier*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  const std::span<const std::byte> waiting = from.waiting();
  if (waiting.empty()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(size), waiting.size());
  std::memcpy(to, waiting.data(), count);
  from.begin += count;
  return static_cast<int>(count);
}

int put_out(BIO* bio, const char* data, int size) {
  auto& to = *static_cast<carrier*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  to.out.insert(to.out.end(), bytes, bytes + size);
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

/// A secret out of a line "LABEL RANDOM SECRET", as OpenSSL tells it to whoever asks for a log of keys.
bool secret_of(std::string_view line, std::string_view label, record_keys::secret& to) {
  const std::size_t at = line.rfind(' ');
  if (!line.starts_with(label) || at == std::string_view::npos) return false;
  const std::string_view digits = line.substr(at + 1);
  if (digits.size() != 2 * to.size()) return false;
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10; };
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<unsigned char>(value(digits[2 * i]) << 4 | value(digits[2 * i + 1]));
  }
  return true;
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

std::string tls_libraries() {
  const std::string handshake = std::string("OpenSSL ") + OpenSSL_version(OPENSSL_VERSION_STRING);
  const auto cipher = make_cipher();
  if (cipher == nullptr || cipher->made_by().empty()) return handshake;
  return handshake + ", encrypted by " + cipher->made_by();
}

// ---- what a session holds

struct tls_session::parts {
  std::shared_ptr<const tls_context> context;  // during the handshake only
  tls_role role = tls_role::client;
  carrier bytes;
  SSL* ssl = nullptr;  // of the handshake only
  std::string failure;

  record_keys::secret client_secret{};
  record_keys::secret server_secret{};
  bool has_client_secret = false;
  bool has_server_secret = false;

  record_keys sealing;
  record_keys opening;
  std::size_t opened = 0;  // bytes of content at the begin of what waits; the record's tail follows
  stream own;

  ~parts() {
    SSL_free(ssl);
    forget_secrets();
  }

  void forget_secrets() noexcept {
    OPENSSL_cleanse(client_secret.data(), client_secret.size());
    OPENSSL_cleanse(server_secret.data(), server_secret.size());
  }

  static void learn(const SSL* ssl, const char* line) {
    parts& mine = *static_cast<parts*>(SSL_get_app_data(ssl));
    if (secret_of(line, "CLIENT_TRAFFIC_SECRET_0 ", mine.client_secret)) mine.has_client_secret = true;
    if (secret_of(line, "SERVER_TRAFFIC_SECRET_0 ", mine.server_secret)) mine.has_server_secret = true;
  }

  /// From here on records are ours; so is what has come behind the handshake.
  [[nodiscard]] bool take_over() {
    const bool client = role == tls_role::client;
    const bool good = has_client_secret && has_server_secret && sealing.begin(client ? client_secret : server_secret) &&
                      opening.begin(client ? server_secret : client_secret);
    forget_secrets();
    SSL_free(ssl);
    ssl = nullptr;
    context.reset();  // and with it the key, if nobody else has the context
    return good;
  }

  /// How much of `content` the next record takes; 0: the connection broke.
  [[nodiscard]] std::size_t next_piece(std::size_t content) {
    if (!own.socket.attached()) return std::min(content, largest_content);
    if (!own.make_room(std::min(content, own.most_content) + record_overhead)) return 0;
    if (own.size == 0) own.begin();
    return std::min(content, own.most_content);
  }

  /// Where a record with so much content goes; nullptr: the connection broke.
  [[nodiscard]] std::byte* place(std::size_t content) {
    const std::size_t needed = content + record_overhead;
    if (!own.socket.attached()) {
      const std::size_t before = bytes.out.size();
      bytes.out.resize(before + needed);
      return bytes.out.data() + before;
    }
    if (!own.make_room(needed)) return nullptr;
    own.size += needed;
    return own.out.data() + own.size - needed;
  }

  [[nodiscard]] bool put(std::span<const std::byte> content, content_type type) {
    std::byte* const at = place(content.size());
    return at != nullptr && sealing.seal(content, type, at);
  }

  /// New keys for what follows (RFC 8446, 4.6.3); the peer need not change its own.
  [[nodiscard]] bool renew() {
    constexpr std::byte update[] = {std::byte{24}, std::byte{0}, std::byte{0}, std::byte{1}, std::byte{0}};
    return put(update, content_type::handshake) && sealing.update();
  }

  [[nodiscard]] std::size_t hand_out(std::span<std::byte> into) noexcept {
    const std::size_t count = std::min(into.size(), opened);
    if (count != 0) std::memcpy(into.data(), bytes.in.data() + bytes.begin, count);
    opened -= count;
    bytes.begin += count + (opened == 0 ? record_tail_bytes : 0);
    return count;
  }

  long fail(std::string why) {
    failure = std::move(why);
    return -1;
  }

  /// Opens the record that waits: number of bytes in `into`, 0: none of them, negative: failed.
  [[nodiscard]] long open_one(std::span<std::byte> record, std::span<std::byte> into) {
    const std::size_t content = record.size() - record_overhead;
    const bool straight = content >= worth_it && content <= into.size();
    content_type type{};
    if (!opening.open(record, straight ? into.data() : nullptr, type)) return fail("bad record mac");
    if (type == content_type::data) {
      bytes.begin += straight ? record.size() : record_head_bytes;
      if (straight) return static_cast<long>(content);
      opened = content;
      if (content == 0) bytes.begin += record_tail_bytes;
      return content == 0 ? 0 : static_cast<long>(hand_out(into));
    }
    bytes.begin += record.size();
    const std::byte* const at = straight ? into.data() : record.data() + record_head_bytes;
    const bool new_keys = type == content_type::handshake && content == 5 && at[0] == std::byte{24};
    if (new_keys && opening.update()) return 0;
    return fail(type == content_type::alert ? "the connection ended" : "a record that does not belong here");
  }
};

// ---- the context

struct tls_context::parts {
  SSL_CTX* context = nullptr;
  secret_key key;
  std::string identity;
  tls_role role = tls_role::client;

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
  SSL_CTX_set_keylog_callback(context, &tls_session::parts::learn);
  if (role == tls_role::client)
    SSL_CTX_set_psk_use_session_callback(context, &parts::offer);
  else
    SSL_CTX_set_psk_find_session_callback(context, &parts::find);
}

tls_context::~tls_context() = default;

// ---- the session

tls_session::tls_session(std::shared_ptr<const tls_context> context) : parts_(std::make_unique<parts>()) {
  parts_->context = std::move(context);
  const tls_context::parts& common = *parts_->context->parts_;
  parts_->role = common.role;
  ERR_clear_error();
  parts_->ssl = SSL_new(common.context);
  BIO* const bio = parts_->ssl == nullptr ? nullptr : BIO_new(method());
  if (bio == nullptr) throw config_error("OpenSSL cannot make a session (" + openssl_failure() + "); check memory");
  BIO_set_data(bio, &parts_->bytes);
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
  if (parts_->ssl == nullptr) return parts_->failure.empty() ? status::done : status::failed;
  ERR_clear_error();
  const int result = SSL_do_handshake(parts_->ssl);
  if (result == 1) {
    // The key was really used, by both sides, for what we want to be used.
    const bool used = SSL_session_reused(parts_->ssl) == 1 && SSL_version(parts_->ssl) == TLS1_3_VERSION &&
                      SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(parts_->ssl)) == 0x1302;
    if (used && parts_->take_over()) return status::done;
    parts_->failure = used ? "OpenSSL tells no traffic keys" : "the key was not used";
    return status::failed;
  }
  if (SSL_get_error(parts_->ssl, result) == SSL_ERROR_WANT_READ) return status::want_input;
  parts_->failure = openssl_failure();
  return status::failed;
}

bool tls_session::write(std::span<const std::byte> plain) {
  if (parts_->ssl != nullptr) return false;
  while (!plain.empty()) {
    const std::size_t piece = parts_->next_piece(plain.size());
    if (parts_->sealing.worn() && !parts_->renew()) return false;
    if (piece == 0 || !parts_->put(plain.first(piece), content_type::data)) return false;
    plain = plain.subspan(piece);
  }
  return true;
}

bool tls_session::renew() { return parts_->ssl == nullptr && parts_->renew(); }

bool tls_session::send_rest() { return !parts_->own.socket.attached() || parts_->own.send(); }

long tls_session::read(std::span<std::byte> into) {
  if (into.empty() || parts_->ssl != nullptr) return 0;
  if (!parts_->failure.empty()) return -1;
  if (parts_->opened != 0) return static_cast<long>(parts_->hand_out(into));
  for (;;) {
    const std::span<std::byte> waiting = parts_->bytes.waiting();
    const record_head next = read_record_head(waiting);
    switch (next.is) {
      case record_head::status::wrong: return parts_->fail("wrong version number");
      case record_head::status::whole:
        if (const long got = parts_->open_one(waiting.first(next.bytes), into); got != 0) return got;
        continue;
      case record_head::status::incomplete: break;
    }
    if (!parts_->own.socket.attached()) return 0;
    if (!parts_->own.receive(parts_->bytes, patient_socket::how_to_wait_for(into)))
      return parts_->fail("the connection ended");
  }
}

void tls_session::wipe_read() noexcept { OPENSSL_cleanse(parts_->bytes.in.data(), parts_->bytes.begin); }
std::span<std::byte> tls_session::input_room(std::size_t least) { return parts_->bytes.room(least); }
void tls_session::feed(std::size_t bytes) noexcept { parts_->bytes.end += bytes; }
bool tls_session::has_input() const noexcept {
  return parts_->opened != 0 || read_record_head(parts_->bytes.waiting()).is != record_head::status::incomplete;
}
std::vector<std::byte>& tls_session::output() noexcept { return parts_->bytes.out; }
void tls_session::attach(int socket) {
  parts_->own.socket.attach(socket);
  parts_->own.begin();
  static_cast<void>(parts_->bytes.room(received_at_once));
}
std::string tls_session::failure() const { return parts_->failure; }

}  // namespace ham::transport::tcp
