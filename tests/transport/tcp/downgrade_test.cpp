// Strangers that speak TLS, but not ours: certificates instead of the key, older versions, other ciphers.
#if defined(HAM_TCP_TLS)
#include <gtest/gtest.h>
#include <openssl/conf.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstring>
#include <thread>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

struct strangers {
  SSL_CTX* context = nullptr;

  explicit strangers(bool server) : context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method())) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  }
  ~strangers() { SSL_CTX_free(context); }
  strangers(const strangers&) = delete;
  strangers& operator=(const strangers&) = delete;

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
  host.at = std::make_unique<tcp_network>(host_options({}), job_of(42), &host.memory, host.news);
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
  host.at = std::make_unique<tcp_network>(host_options({}), job_of(42), &host.memory, host.news);
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

// ---- what a configuration of OpenSSL, or a peer with the key, could take away

int offer_without_exchange(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* size, SSL_SESSION** out) {
  constexpr unsigned char cipher[] = {0x13, 0x02};
  const secret_key key = key_of(7);
  *id = reinterpret_cast<const unsigned char*>(invite_identity);
  *size = std::strlen(invite_identity);
  *out = SSL_SESSION_new();
  SSL_SESSION_set1_master_key(*out, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  SSL_SESSION_set_cipher(*out, SSL_CIPHER_find(ssl, cipher));
  SSL_SESSION_set_protocol_version(*out, TLS1_3_VERSION);
  return 1;
}

/// A peer that has the key and wants no ephemeral one.
struct without_exchange : strangers {
  without_exchange() : strangers(false) {
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384");
    SSL_CTX_set1_groups_list(context, "P-521");  // none that the listener takes
    SSL_CTX_set_options(context, SSL_OP_ALLOW_NO_DHE_KEX);
    SSL_CTX_set_psk_use_session_callback(context, offer_without_exchange);
  }
};

TEST_F(tcp_downgrade, no_handshake_is_without_an_ephemeral_key) { EXPECT_FALSE(gets_in(without_exchange())); }

/// In a process of its own: the configuration is its process's from then on.
void expect_strength_in_spite_of_a_file() {
  char name[] = "/tmp/ham-openssl-XXXXXX";
  const base::unique_fd file(::mkstemp(name));
  const std::string text =
      "ham = init\n[init]\nssl_conf = ssl\n[ssl]\nsystem_default = defaults\n[defaults]\n"
      "Options = AllowNoDHEKEX,SessionTicket\nMinProtocol = TLSv1\nMaxProtocol = TLSv1.2\nGroups = P-521\n"
      "Ciphersuites = TLS_AES_128_GCM_SHA256\n";
  ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ASSERT_EQ(CONF_modules_load_file(name, "ham", 0), 1);
  ::unlink(name);
  {
    SSL_CTX* const probe = SSL_CTX_new(TLS_client_method());
    EXPECT_NE(SSL_CTX_get_options(probe) & SSL_OP_ALLOW_NO_DHE_KEX, 0U) << "the file has no effect";
    SSL_CTX_free(probe);
  }
  EXPECT_FALSE(gets_in(without_exchange()));
  job one(1);  // and what should work does
  one.host().send(1, 5, pattern(10));
  EXPECT_EQ(one.node(1).receive(), 5U);
}

TEST_F(tcp_downgrade, a_configuration_file_takes_nothing_away) {
  const pid_t child = ::fork();
  if (child == 0) {
    expect_strength_in_spite_of_a_file();
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(tcp_downgrade, keys_are_logged_for_nobody) {
  EXPECT_EQ(why_log_refused(0x30500000, nullptr), "");
  EXPECT_EQ(why_log_refused(0x30500000, ""), "");
  EXPECT_EQ(why_log_refused(0x30000110, "/tmp/keys"), "") << "this one knows no such file";
  EXPECT_NE(why_log_refused(0x30500000, "/tmp/keys").find("/tmp/keys"), std::string::npos);
  EXPECT_NE(why_log_refused(0x40000000, "/tmp/keys").find("SSLKEYLOGFILE"), std::string::npos);
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
