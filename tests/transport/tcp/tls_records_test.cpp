// Records of our own making against OpenSSL's: each understands the other, also after new keys.
#if defined(HAM_TCP_TLS)
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>
#include <ostream>

#include "transport/tcp/nodes.hpp"
#include "transport/tcp/tls_alert.hpp"
#include "transport/tcp/tls_records.hpp"
#include "transport/tcp/tls_secrets.hpp"

namespace ham::transport::tcp {

static void PrintTo(tls_role which, std::ostream* out) { *out << (which == tls_role::client ? "client" : "server"); }

namespace test {
namespace {

constexpr std::size_t sizes[] = {1, 24, 1000, 1024, 1025, 2047, 2048, 5000, 16384, 16385, 100'000};

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
bytes read_all(tls_session& from, std::size_t room) {
  bytes result;
  bytes buffer(room);
  for (long got = 0; (got = from.read(buffer)) > 0;) result.insert(result.end(), buffer.begin(), buffer.begin() + got);
  return result;
}

bytes read_all(SSL* from) {
  bytes result;
  std::byte buffer[4000];
  for (int got = 0; (got = SSL_read(from, buffer, sizeof buffer)) > 0;)
    result.insert(result.end(), buffer, buffer + got);
  return result;
}

class records : public testing::TestWithParam<tls_role> {
 protected:
  void SetUp() override { theirs_.shake(ours_); }

  void both_ways() {
    for (const std::size_t size : sizes) {
      const bytes sent = pattern(size);
      ASSERT_TRUE(ours_.write(sent));
      theirs_.take_from(ours_);
      EXPECT_EQ(read_all(theirs_.ssl()), sent) << size;
      for (const std::size_t room : {std::size_t{100}, std::size_t{16384}, size}) {
        ASSERT_EQ(SSL_write(theirs_.ssl(), sent.data(), static_cast<int>(size)), static_cast<int>(size));
        theirs_.give_to(ours_);
        EXPECT_EQ(read_all(ours_, room), sent) << size << ", " << room << " at a time";
      }
    }
  }

  tls_session ours_{std::make_shared<tls_context>(GetParam(), key_of(1), job_identity)};
  reference theirs_{GetParam() == tls_role::client ? tls_role::server : tls_role::client};
};

INSTANTIATE_TEST_SUITE_P(, records, testing::Values(tls_role::client, tls_role::server),
                         [](const auto& one) { return one.param == tls_role::client ? "client" : "server"; });

TEST_P(records, openssl_understands_them_and_is_understood) { both_ways(); }

TEST_P(records, new_keys_are_announced_and_followed) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ours_.renew());
    ASSERT_EQ(SSL_key_update(theirs_.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    both_ways();
  }
}

TEST_P(records, the_end_is_an_end) {
  static_cast<void>(SSL_shutdown(theirs_.ssl()));
  theirs_.give_to(ours_);
  std::byte buffer[100];
  EXPECT_LT(ours_.read(buffer), 0);
  EXPECT_EQ(ours_.failure(), "the connection ended");
  EXPECT_LT(ours_.read(buffer), 0) << "for good";
}

TEST_P(records, what_does_not_verify_leaves_nothing) {
  const bytes sent = pattern(5000);
  ASSERT_TRUE(ours_.write(sent));
  tls_session other(std::make_shared<tls_context>(GetParam(), key_of(1), job_identity));
  const reference another(GetParam() == tls_role::client ? tls_role::server : tls_role::client);
  another.shake(other);
  std::vector<std::byte>& wire = ours_.output();  // good, but of another connection
  std::memcpy(other.input_room(wire.size()).data(), wire.data(), wire.size());
  other.feed(wire.size());
  bytes buffer(6000, std::byte{9});
  EXPECT_LT(other.read(buffer), 0);
  EXPECT_TRUE(std::all_of(buffer.begin(), buffer.begin() + 5000, [](std::byte one) { return one == std::byte{0}; }));
}

// ---- what a peer with the key may try

TEST_P(records, new_keys_that_are_asked_for_come_before_the_next_data) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(SSL_key_update(theirs_.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_write(theirs_.ssl(), "data", 4), 4);
    theirs_.give_to(ours_);
    EXPECT_EQ(read_all(ours_, 100).size(), 4U);
    ASSERT_TRUE(ours_.write(pattern(10)));
    EXPECT_EQ(ours_.output().size(), record_overhead + 5 + record_overhead + 10) << "an update and the data";
    theirs_.take_from(ours_);
    EXPECT_EQ(read_all(theirs_.ssl()), pattern(10));
    both_ways();
  }
}

TEST_P(records, close_notify_is_said_and_understood) {
  ASSERT_TRUE(ours_.write(pattern(10)));
  ours_.end();
  EXPECT_FALSE(ours_.write(pattern(1))) << "it has ended";
  theirs_.take_from(ours_);
  EXPECT_EQ(read_all(theirs_.ssl()), pattern(10));
  EXPECT_EQ(SSL_get_shutdown(theirs_.ssl()), SSL_RECEIVED_SHUTDOWN);
  static_cast<void>(SSL_shutdown(theirs_.ssl()));
  theirs_.give_to(ours_);
  std::byte buffer[100];
  EXPECT_LT(ours_.read(buffer), 0);
  EXPECT_TRUE(ours_.ended());
}

/// A peer that knows all secrets and writes what it likes.
class crafted_records : public records {
 protected:
  void SetUp() override {
    records::SetUp();
    using enum handshake_secrets::which;
    const bool client = GetParam() == tls_role::client;
    ASSERT_TRUE(sealing_.begin(theirs_.secrets()[client ? server_traffic : client_traffic]));
    ASSERT_TRUE(opening_.begin(theirs_.secrets()[client ? client_traffic : server_traffic]));
  }

  void feed(std::span<const std::byte> wire) {
    std::memcpy(ours_.input_room(wire.size()).data(), wire.data(), wire.size());
    ours_.feed(wire.size());
  }
  void send(const bytes& content, content_type type) {
    bytes wire(content.size() + record_overhead);
    ASSERT_TRUE(sealing_.seal(content, type, wire.data()));
    feed(wire);
  }
  [[nodiscard]] long read() {
    std::byte buffer[100];
    return ours_.read(buffer);
  }
  /// What ours says at its end.
  void expect_alert(tls_alert what) {
    ours_.output().clear();
    ours_.end();
    bytes wire = ours_.output();
    ASSERT_EQ(wire.size(), record_overhead + 2) << ours_.failure();
    content_type type{};
    ASSERT_TRUE(opening_.open(wire, nullptr, type));
    EXPECT_EQ(type, content_type::alert);
    EXPECT_EQ(wire[record_head_bytes], std::byte{2}) << "fatal";
    EXPECT_EQ(static_cast<tls_alert>(wire[record_head_bytes + 1]), what) << ours_.failure();
  }
  static bytes of(std::initializer_list<int> values) {
    bytes result;
    for (const int one : values) result.push_back(static_cast<std::byte>(one));
    return result;
  }

  record_keys sealing_{tls_session::usual_record_limit};
  record_keys opening_{tls_session::usual_record_limit};
};

INSTANTIATE_TEST_SUITE_P(, crafted_records, testing::Values(tls_role::client, tls_role::server),
                         [](const auto& one) { return one.param == tls_role::client ? "client" : "server"; });

struct refusal {
  const char* what;
  content_type type;
  std::initializer_list<int> content;
  tls_alert alert;
};
const refusal refusals[] = {
    {"an unknown kind of update", content_type::handshake, {24, 0, 0, 1, 2}, tls_alert::illegal_parameter},
    {"an update of no kind", content_type::handshake, {24, 0, 0, 0}, tls_alert::decode_error},
    {"an update with more behind it", content_type::handshake, {24, 0, 0, 1, 0, 0}, tls_alert::decode_error},
    {"two updates", content_type::handshake, {24, 0, 0, 1, 0, 24, 0, 0, 1, 0}, tls_alert::decode_error},
    {"an update of another length", content_type::handshake, {24, 0, 1, 1, 0}, tls_alert::decode_error},
    {"a new ticket", content_type::handshake, {4, 0, 0, 1, 0}, tls_alert::unexpected_message},
    {"half a message", content_type::handshake, {24, 0, 0}, tls_alert::unexpected_message},
    {"nothing", content_type::handshake, {}, tls_alert::unexpected_message},
    {"half an alert", content_type::alert, {2}, tls_alert::decode_error},
    {"an unknown type", static_cast<content_type>(99), {1}, tls_alert::unexpected_message},
    {"padding", static_cast<content_type>(0), {1, 23}, tls_alert::unexpected_message},
};

TEST_P(crafted_records, every_wrong_one_is_refused_with_its_alert) {
  for (const refusal& one : refusals) {
    SCOPED_TRACE(one.what);
    tls_session ours(std::make_shared<tls_context>(GetParam(), key_of(1), job_identity));
    const reference theirs(GetParam() == tls_role::client ? tls_role::server : tls_role::client);
    theirs.shake(ours);
    record_keys sealing(tls_session::usual_record_limit);
    const bool client = GetParam() == tls_role::client;
    ASSERT_TRUE(sealing.begin(
        theirs.secrets()[client ? handshake_secrets::server_traffic : handshake_secrets::client_traffic]));
    const bytes content = of(one.content);
    bytes wire(content.size() + record_overhead);
    ASSERT_TRUE(sealing.seal(content, one.type, wire.data()));
    std::memcpy(ours.input_room(wire.size()).data(), wire.data(), wire.size());
    ours.feed(wire.size());
    std::byte buffer[100];
    EXPECT_LT(ours.read(buffer), 0);
    EXPECT_FALSE(ours.ended());
    ours.end();
    theirs.take_from(ours);
    EXPECT_LE(SSL_read(theirs.ssl(), buffer, sizeof buffer), 0);
    EXPECT_EQ(ERR_GET_REASON(ERR_peek_last_error()), SSL_AD_REASON_OFFSET + static_cast<int>(one.alert))
        << ours.failure() << "; OpenSSL: " << ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
  }
}

TEST_P(crafted_records, one_that_does_not_verify_is_answered_by_an_alert) {
  bytes wire(100);
  ASSERT_TRUE(sealing_.seal(pattern(100 - record_overhead), content_type::data, wire.data()));
  wire.back() ^= std::byte{1};
  feed(wire);
  EXPECT_LT(read(), 0);
  expect_alert(tls_alert::bad_record_mac);
}

TEST_P(crafted_records, one_is_as_long_as_it_may_be) {
  send(pattern(largest_content), content_type::data);
  EXPECT_EQ(read_all(ours_, 1000).size(), largest_content);
  const std::size_t body = largest_content + record_tail_bytes + 1;
  feed(of({23, 3, 3, static_cast<int>(body >> 8), static_cast<int>(body & 0xff)}));
  EXPECT_LT(read(), 0) << "already its head says too much";
  expect_alert(tls_alert::record_overflow);
}

TEST_P(crafted_records, few_without_data_are_taken_and_then_no_more) {
  const bytes update = of({24, 0, 0, 1, 0});
  for (int i = 0; i < 100; ++i) {
    for (int empty = 0; empty < 16; ++empty) send({}, content_type::data);
    for (int updates = 0; updates < 16; ++updates) {
      send(update, content_type::handshake);
      ASSERT_TRUE(sealing_.update());
    }
    send(pattern(3), content_type::data);
    ASSERT_EQ(read(), 3) << i;
  }
  for (int empty = 0; empty < 33; ++empty) send({}, content_type::data);
  EXPECT_LT(read(), 0);
  expect_alert(tls_alert::unexpected_message);
}

TEST_P(crafted_records, keys_do_not_stay_in_use_for_ever) {
  constexpr std::uint64_t limit = 4;
  tls_session ours(std::make_shared<tls_context>(GetParam(), key_of(1), job_identity), limit);
  const reference theirs(GetParam() == tls_role::client ? tls_role::server : tls_role::client);
  theirs.shake(ours);
  for (int i = 0; i < 3; ++i) {
    for (std::uint64_t n = 0; n < limit; ++n) ASSERT_EQ(SSL_write(theirs.ssl(), "data", 4), 4);
    ASSERT_EQ(SSL_key_update(theirs.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);  // one record more, with the old key
    theirs.give_to(ours);
    EXPECT_EQ(read_all(ours, 100).size(), 4 * limit);
  }
  for (std::uint64_t n = 0; n < limit + 3; ++n) ASSERT_EQ(SSL_write(theirs.ssl(), "data", 4), 4);
  theirs.give_to(ours);
  static_cast<void>(read_all(ours, 100));
  EXPECT_NE(ours.failure().find("too many records"), std::string::npos) << ours.failure();
  // This side keeps to it.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ours.write(pattern(10)));
  EXPECT_EQ(ours.output().size(), 20 * (record_overhead + 10) + 4 * (record_overhead + 5));
}

}  // namespace
}  // namespace test
}  // namespace ham::transport::tcp
#endif
