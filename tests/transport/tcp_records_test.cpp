// Records of our own making against OpenSSL's: each understands the other, also after new keys.
#if defined(HAM_TCP_TLS)
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cstring>

#include "transport/tcp_nodes.hpp"

namespace ham::transport::tcp::test {
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

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
