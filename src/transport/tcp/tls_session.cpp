// OpenSSL shakes hands; records after the handshake are our own business (docs/decisions/0007-tls-records.md).
#include "transport/tcp/tls_session.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "transport/tcp/tls_alert.hpp"
#include "transport/tcp/tls_carrier.hpp"
#include "transport/tcp/tls_context_parts.hpp"
#include "transport/tcp/tls_records.hpp"
#include "transport/tcp/tls_secrets.hpp"

namespace ham::transport::tcp {
namespace {

constexpr std::size_t worth_it = 2048;     // opened straight into the caller's memory
constexpr unsigned max_without_data = 32;  // records in a row
constexpr std::byte key_update{24};        // a message of a handshake
constexpr std::byte update_requested{1};
constexpr std::size_t received_at_once = 8 * (largest_content + record_overhead);  // with a socket of its own

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
  carrier bytes;
  SSL* ssl = nullptr;  // of the handshake only
  std::string failure;

  handshake_secrets secrets;

  explicit parts(std::uint64_t record_limit) : sealing(record_limit), opening(record_limit) {}

  record_keys sealing;
  record_keys opening;
  std::size_t opened = 0;  // bytes of content at the begin of what waits; the record's tail follows
  stream own;

  // ---- the end: whoever reads and whoever writes may do so at the same time
  std::atomic<bool> update_due{false};                        // the peer wants new keys of ours
  std::atomic<tls_alert> last_word{tls_alert::close_notify};  // what to say at the end
  bool said = false;                                          // it was said: nothing is written any more
  bool peer_ended = false;                                    // in order
  unsigned without_data = 0;                                  // records in a row

  ~parts() { end_handshake(); }

  void end_handshake() noexcept {
    if (ssl != nullptr) secrets.wipe_in(ssl, context->parts_->key);
    SSL_free(ssl);
    ssl = nullptr;
    secrets.wipe();
    context.reset();  // and with it the key, if nobody else has the context
  }

  /// From here on records are ours; so is what has come behind the handshake.
  [[nodiscard]] bool take_over() {
    using enum handshake_secrets::which;
    const auto mine = role == tls_role::client ? client_traffic : server_traffic;
    const auto theirs = role == tls_role::client ? server_traffic : client_traffic;
    const bool good =
        secrets.knows(mine) && secrets.knows(theirs) && sealing.begin(secrets[mine]) && opening.begin(secrets[theirs]);
    end_handshake();
    return good;
  }

  /// How much of `content` the next record takes; 0: the connection broke.
  [[nodiscard]] std::size_t next_piece(std::size_t content) {
    if (!own.socket.attached()) return std::min(content, largest_content);
    if (!own.make_room(std::min(content, own.max_content) + record_overhead)) return 0;
    if (own.size == 0) own.begin();
    return std::min(content, own.max_content);
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
    constexpr std::byte update[] = {key_update, std::byte{0}, std::byte{0}, std::byte{1}, std::byte{0}};
    return put(update, content_type::handshake) && sealing.update();
  }

  [[nodiscard]] std::size_t hand_out(std::span<std::byte> into) noexcept {
    const std::size_t count = std::min(into.size(), opened);
    if (count != 0) std::memcpy(into.data(), bytes.in.data() + bytes.begin, count);
    opened -= count;
    bytes.begin += count + (opened == 0 ? record_tail_bytes : 0);
    return count;
  }

  /// `told`: what the peer shall hear of it.
  long fail(std::string why, tls_alert told) {
    failure = std::move(why);
    last_word = told;
    return -1;
  }

  /// Opens the record that waits: number of bytes in `into`, 0: none of them, negative: failed.
  [[nodiscard]] long open_one(std::span<std::byte> record, std::span<std::byte> into) {
    const std::size_t content = record.size() - record_overhead;
    const bool straight = content >= worth_it && content <= into.size();
    content_type type{};
    if (opening.overdue()) return fail("too many records with one key", tls_alert::unexpected_message);
    if (!opening.open(record, straight ? into.data() : nullptr, type)) {
      return fail("bad record mac", tls_alert::bad_record_mac);
    }
    without_data = type == content_type::data && content != 0 ? 0 : without_data + 1;
    if (type == content_type::data) {
      bytes.begin += straight ? record.size() : record_head_bytes;
      if (straight) return static_cast<long>(content);
      opened = content;
      if (content != 0) return static_cast<long>(hand_out(into));
      bytes.begin += record_tail_bytes;
    } else {
      bytes.begin += record.size();
      const std::byte* const at = straight ? into.data() : record.data() + record_head_bytes;
      if (const long result = control({at, content}, type); result != 0) return result;
    }
    return without_data <= max_without_data ? 0 : fail("only records without data", tls_alert::unexpected_message);
  }

  /// What is not data: new keys or the end.
  [[nodiscard]] long control(std::span<const std::byte> content, content_type type) {
    if (type == content_type::handshake) return follow_update(content);
    if (type != content_type::alert) return fail("a record that does not belong here", tls_alert::unexpected_message);
    if (content.size() != 2) return fail("an alert of a wrong size", tls_alert::decode_error);
    const auto what = static_cast<tls_alert>(content[1]);
    peer_ended = what == tls_alert::close_notify;
    if (peer_ended) return fail("the connection ended", tls_alert::close_notify);
    return fail(
        std::string("the peer ended it: ") + name_of(what) + " (" + std::to_string(static_cast<int>(what)) + ")",
        tls_alert::close_notify);
  }

  [[nodiscard]] long follow_update(std::span<const std::byte> message) {
    const bool is_update = message.size() >= 4 && message[0] == key_update;
    if (!is_update) return fail("a message of a handshake behind it", tls_alert::unexpected_message);
    const bool whole =
        message.size() == 5 && message[1] == std::byte{0} && message[2] == std::byte{0} && message[3] == std::byte{1};
    if (!whole) return fail("an announcement of new keys of a wrong size", tls_alert::decode_error);
    if (message[4] > update_requested) return fail("a key update of an unknown kind", tls_alert::illegal_parameter);
    if (!opening.update()) return fail("OpenSSL makes no new keys", tls_alert::close_notify);
    if (message[4] == update_requested) update_due.store(true, std::memory_order_relaxed);
    return 0;
  }

  /// The last record, as far as it can be sent without waiting.
  void say_last_word() {
    if (ssl != nullptr || said) return;
    const tls_alert what = last_word;
    const std::byte warning{1};
    const std::byte fatal{2};
    const std::byte alert[] = {what == tls_alert::close_notify ? warning : fatal, static_cast<std::byte>(what)};
    if (!own.socket.attached()) {
      said = true;
      static_cast<void>(put(alert, content_type::alert));
      return;
    }
    if (own.size != 0) return;  // a record may be half gone
    said = true;
    std::array<std::byte, sizeof alert + record_overhead> record;  // NOLINT: seal fills it
    if (sealing.seal(alert, content_type::alert, record.data())) own.socket.send_now(record);
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
    // The key was really used, by both sides, for what we want to be used, and with an ephemeral key besides.
    const bool used = SSL_session_reused(parts_->ssl) == 1 && SSL_version(parts_->ssl) == TLS1_3_VERSION &&
                      SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(parts_->ssl)) == 0x1302 &&
                      has_ephemeral_key(parts_->ssl);
    if (used && parts_->take_over()) return status::done;
    parts_->failure = used ? "OpenSSL tells no traffic keys" : "the key was not used";
    if (!used) static_cast<void>(SSL_shutdown(parts_->ssl));
    return status::failed;
  }
  if (SSL_get_error(parts_->ssl, result) == SSL_ERROR_WANT_READ) return status::want_input;
  parts_->failure = openssl_failure();
  return status::failed;
}

bool tls_session::write(std::span<const std::byte> plain) {
  if (parts_->ssl != nullptr || parts_->said) return false;
  while (!plain.empty()) {
    const std::size_t piece = parts_->next_piece(plain.size());
    const bool asked = parts_->update_due.load(std::memory_order_relaxed) && parts_->update_due.exchange(false);
    if ((asked || parts_->sealing.worn()) && !parts_->renew()) return false;
    if (piece == 0 || !parts_->put(plain.first(piece), content_type::data)) return false;
    plain = plain.subspan(piece);
  }
  return true;
}

bool tls_session::renew() { return parts_->ssl == nullptr && parts_->renew(); }

void tls_session::end() { parts_->say_last_word(); }
bool tls_session::ended() const noexcept { return parts_->peer_ended; }
void tls_session::learn(const SSL* ssl, const char* line) {
  static_cast<parts*>(SSL_get_app_data(ssl))->secrets.learn(line);
}

bool tls_session::send_rest() { return !parts_->own.socket.attached() || parts_->own.send(); }

long tls_session::read(std::span<std::byte> into) {
  if (into.empty() || parts_->ssl != nullptr) return 0;
  if (!parts_->failure.empty()) return -1;
  if (parts_->opened != 0) return static_cast<long>(parts_->hand_out(into));
  for (;;) {
    const std::span<std::byte> waiting = parts_->bytes.waiting();
    const record_head next = read_record_head(waiting);
    switch (next.is) {
      case record_head::status::wrong: return parts_->fail("wrong version number", tls_alert::unexpected_message);
      case record_head::status::too_long: return parts_->fail("a record too long", tls_alert::record_overflow);
      case record_head::status::whole:
        if (const long got = parts_->open_one(waiting.first(next.bytes), into); got != 0) return got;
        continue;
      case record_head::status::incomplete: break;
    }
    if (!parts_->own.socket.attached()) return 0;
    if (!parts_->own.receive(parts_->bytes, patient_socket::how_to_wait_for(into)))
      return parts_->fail("the connection ended", tls_alert::close_notify);
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
