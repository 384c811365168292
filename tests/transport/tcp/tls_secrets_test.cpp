// Nothing that decrypts a recorded connection stays in memory when the connection has ended.
#if defined(HAM_TCP_TLS)
#include "transport/tcp/tls_secrets.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>

#include "transport/tcp/nodes.hpp"
#include "writable_memory.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

#ifdef HAM_TEST_SANITIZED
constexpr bool memory_is_kept = true;
#else
constexpr bool memory_is_kept = false;
#endif

/// A client of OpenSSL's own that logs the secrets, in a process of its own: inverted, so that the search does not find
/// these copies.
void be_the_client(int socket, int told) {
  ::signal(SIGPIPE, SIG_IGN);  // its last words may reach nobody
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384");
  SSL_CTX_set_psk_use_session_callback(
      context, [](SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* size, SSL_SESSION** out) {
        constexpr unsigned char cipher[] = {0x13, 0x02};
        const secret_key key = key_of(1);
        *id = reinterpret_cast<const unsigned char*>(job_identity);
        *size = std::strlen(job_identity);
        *out = SSL_SESSION_new();
        SSL_SESSION_set1_master_key(*out, reinterpret_cast<const unsigned char*>(key.data()), key.size());
        SSL_SESSION_set_cipher(*out, SSL_CIPHER_find(ssl, cipher));
        SSL_SESSION_set_protocol_version(*out, TLS1_3_VERSION);
        return 1;
      });
  static handshake_secrets secrets;
  SSL_CTX_set_keylog_callback(context, [](const SSL*, const char* line) { secrets.learn(line); });
  SSL* const ssl = SSL_new(context);
  SSL_set_fd(ssl, socket);
  if (SSL_connect(ssl) != 1 || SSL_write(ssl, "hello", 5) != 5) ::_exit(1);
  for (int i = 0; i < handshake_secrets::count; ++i) {
    hash_secret inverted = secrets[static_cast<handshake_secrets::which>(i)];
    for (unsigned char& one : inverted) one = static_cast<unsigned char>(~one);
    if (::write(told, inverted.data(), inverted.size()) != static_cast<ssize_t>(inverted.size())) ::_exit(2);
  }
  char byte = 0;
  static_cast<void>(SSL_read(ssl, &byte, 1));  // until the server has gone
  ::_exit(0);
}

int copies_in_memory(const hash_secret& inverted) {
  int found = 0;
  ham::test::for_each_writable_mapping([&](std::span<const unsigned char> bytes) {
    for (std::size_t at = 0; at + inverted.size() <= bytes.size(); ++at) {
      std::size_t same = 0;
      while (same < inverted.size() && static_cast<unsigned char>(~bytes[at + same]) == inverted[same]) ++same;
      if (same == inverted.size()) ++found;
    }
  });
  return found;
}

TEST(tcp_secrets, are_wiped_behind_a_handshake_and_at_the_end) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  if (memory_is_kept) GTEST_SKIP() << "all memory is read, also what the sanitizer forbids";
  int sockets[2];
  int told[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(sockets[0]);
    be_the_client(sockets[1], told[1]);
  }
  ::close(sockets[1]);
  ::close(told[1]);
  const base::unique_fd socket(sockets[0]);
  const base::unique_fd secrets(told[0]);
  const auto context = std::make_shared<tls_context>(tls_role::server, key_of(1), job_identity, tested_records());
  {
    tls_session session(context);
    bytes heard(16);
    long got = 0;
    while (got == 0) {
      const bool shaken = session.shake_hands() == tls_session::status::done;
      static_cast<void>(!::write(socket.get(), session.output().data(), session.output().size()));
      session.output().clear();
      if (shaken) got = session.read(heard);
      if (got != 0) break;
      const std::span<std::byte> room = session.input_room(16384);
      const ssize_t more = ::read(socket.get(), room.data(), room.size());
      ASSERT_GT(more, 0);
      session.feed(static_cast<std::size_t>(more));
    }
    ASSERT_EQ(got, 5) << session.failure();
  }
  constexpr const char* names[] = {"client's handshake", "server's handshake", "client's traffic", "server's traffic",
                                   "exporter"};
  for (const char* name : names) {
    hash_secret inverted{};
    ASSERT_EQ(::read(secrets.get(), inverted.data(), inverted.size()), static_cast<ssize_t>(inverted.size()));
    EXPECT_EQ(copies_in_memory(inverted), 0) << name;
  }
  ::shutdown(socket.get(), SHUT_RDWR);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// OpenSSL keeps them in the object, and does not tell the ones that all others are made of.
TEST(tcp_secrets, in_the_memory_of_openssl_are_found_by_their_values) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  std::vector<unsigned char> object(4096);
  const auto place = [&](std::size_t at, const hash_secret& what) { std::ranges::copy(what, object.begin() + at); };
  hash_secret handshake{};
  handshake.fill(0x17);
  // What TLS makes of it: HKDF-Extract(Expand-Label(handshake, "derived", hash of nothing), zeros).
  const std::array<unsigned char, 48> nothing{0x38, 0xb0, 0x60, 0xa7, 0x51, 0xac, 0x96, 0x38, 0x4c, 0xd9, 0x32, 0x7e,
                                              0xb1, 0xb1, 0xe3, 0x6a, 0x21, 0xfd, 0xb7, 0x11, 0x14, 0xbe, 0x07, 0x43,
                                              0x4c, 0x0c, 0xc7, 0xbf, 0x63, 0xf6, 0xe1, 0xda, 0x27, 0x4e, 0xde, 0xbf,
                                              0xe7, 0x6f, 0x65, 0xfb, 0xd5, 0x1a, 0xd2, 0xf1, 0x48, 0x98, 0xb9, 0x5b};
  hash_secret derived{};
  hash_secret master{};
  ASSERT_TRUE(hkdf_expand_label(handshake, "derived", derived, nothing));
  ASSERT_TRUE(hkdf_extract(derived, hash_secret{}, master));
  hash_secret traffic{};
  traffic.fill(0x31);
  hash_secret unrelated{};
  unrelated.fill(0x55);
  place(1000, handshake);
  place(1064, master);
  place(1128, unrelated);
  place(1384, traffic);
  place(3000, traffic);
  handshake_secrets secrets;
  std::string line = "CLIENT_TRAFFIC_SECRET_0 00 ";
  for (int i = 0; i < 48; ++i) line += "31";
  secrets.learn(line);
  ASSERT_TRUE(secrets.knows(handshake_secrets::client_traffic));
  secrets.wipe_in_memory(object);
  const auto holds = [&](const hash_secret& what) {
    return std::search(object.begin(), object.end(), what.begin(), what.end()) != object.end();
  };
  EXPECT_FALSE(holds(handshake));
  EXPECT_FALSE(holds(master));
  EXPECT_FALSE(holds(traffic));
  EXPECT_TRUE(holds(unrelated)) << "what is not known is left alone";
}

/// Whoever knows it could show the key's knowledge to others.
TEST(tcp_secrets, what_is_made_of_the_key_alone_is_found_likewise) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  const secret_key key = key_of(1);
  hash_secret early{};
  ASSERT_TRUE(hkdf_extract(hash_secret{}, {reinterpret_cast<const unsigned char*>(key.data()), key.size()}, early));
  std::vector<unsigned char> object(500, 0x55);
  std::ranges::copy(early, object.begin() + 100);
  handshake_secrets::wipe_key_in_memory(object, key_of(2));
  EXPECT_TRUE(std::equal(early.begin(), early.end(), object.begin() + 100)) << "of another key";
  handshake_secrets::wipe_key_in_memory(object, key);
  EXPECT_TRUE(std::all_of(object.begin() + 100, object.begin() + 148, [](unsigned char one) { return one == 0; }));
  EXPECT_EQ(object[99], 0x55);
  EXPECT_EQ(object[148], 0x55);
}

TEST(tcp_secrets, follow_key_updates) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  handshake_secrets secrets;
  secrets.advance(handshake_secrets::client_traffic);
  EXPECT_FALSE(secrets.knows(handshake_secrets::client_traffic));
  std::string line = "CLIENT_TRAFFIC_SECRET_0 00 ";
  for (int i = 0; i < 48; ++i) line += "31";
  secrets.learn(line);
  hash_secret expected{};
  expected.fill(0x31);
  for (int i = 0; i < 3; ++i) {
    secrets.advance(handshake_secrets::client_traffic);
    ASSERT_TRUE(next_traffic_secret(expected));
    EXPECT_EQ(secrets[handshake_secrets::client_traffic], expected);
  }
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
