// Strangers that speak TLS, but not ours: certificates instead of the key, older versions, other ciphers.
#if defined(HAM_TCP_TLS)
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "transport/tcp_nodes.hpp"

namespace ham::transport::tcp::test {
namespace {

struct strangers {
  SSL_CTX* context = nullptr;

  explicit strangers(bool server) : context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method())) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  }
  ~strangers() { SSL_CTX_free(context); }

  /// A certificate that it has signed itself.
  void certify() const {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

base::unique_fd knock_at(const std::string& address) {
  std::string why;
  const auto all = resolve(parse_address(address), false, why);
  base::unique_fd result(::socket(all.front().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(result.get(), all.front().get(), all.front().size), 0);
  return result;
}

/// Whether a stranger gets through the TLS handshake of a listener with a key.
bool gets_in(const strangers& who) {
  tcp_listener waiting(listening({}));
  std::atomic<bool> came{false};
  std::thread inside([&] {
    static_cast<void>(waiting.wait());
    came = true;
  });
  SSL* const ssl = SSL_new(who.context);
  const base::unique_fd socket = knock_at(waiting.address());
  SSL_set_fd(ssl, socket.get());
  bool shaken = SSL_connect(ssl) == 1;
  if (shaken) {  // the client may believe so until the server's alert comes
    char byte = 0;
    shaken = SSL_read(ssl, &byte, 1) > 0;
  }
  SSL_free(ssl);
  EXPECT_FALSE(came) << "a stranger was taken for a host";
  // The listener serves the right one afterwards.
  seat host;
  host.at = std::make_unique<tcp_network>(host_options({}), id_of(key_of(42)), &host.memory, host.news);
  host.at->invite(1, waiting.address(), listening({}).key);
  inside.join();
  EXPECT_TRUE(came);
  return shaken;
}

class tcp_downgrade : public testing::Test {
 protected:
  void SetUp() override {
    if (!tls_built()) GTEST_SKIP() << why_no_tls();
  }
};

TEST_F(tcp_downgrade, a_client_without_the_key_is_refused) { EXPECT_FALSE(gets_in(strangers(false))); }

TEST_F(tcp_downgrade, a_client_of_an_older_version_is_refused) {
  const strangers old(false);
  SSL_CTX_set_max_proto_version(old.context, TLS1_2_VERSION);
  EXPECT_FALSE(gets_in(old));
}

TEST_F(tcp_downgrade, a_client_with_another_cipher_is_refused) {
  const strangers other(false);
  SSL_CTX_set_ciphersuites(other.context, "TLS_AES_128_GCM_SHA256");
  EXPECT_FALSE(gets_in(other));
}

TEST_F(tcp_downgrade, a_server_with_a_certificate_instead_of_the_key_is_refused) {
  const strangers impostor(true);
  impostor.certify();
  const base::unique_fd listening_socket = listen_at(parse_address("127.0.0.1:0"), true);
  seat host;
  host.at = std::make_unique<tcp_network>(host_options({}), id_of(key_of(42)), &host.memory, host.news);
  host.at->invite(1, local_address(listening_socket.get()).text(), key_of(7));
  pollfd waiting{listening_socket.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 10'000), 1);
  const base::unique_fd socket(::accept(listening_socket.get(), nullptr, nullptr));
  SSL* const ssl = SSL_new(impostor.context);
  SSL_set_fd(ssl, socket.get());
  EXPECT_NE(SSL_accept(ssl), 1);
  char hello_byte = 0;
  EXPECT_LE(SSL_read(ssl, &hello_byte, 1), 0) << "it was told something";
  SSL_free(ssl);
  EXPECT_NE(host.await_loss(1).find("key"), std::string::npos) << host.await_loss(1);
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
