// What all sessions of a key share: one version, one cipher, no certificates; and what OpenSSL says when it fails.
#if defined(HAM_TCP_TLS)
#include "transport/tcp/tls_context_parts.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include <string>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

TEST(tls_context, failures_are_told_once_and_in_words) {
  ERR_clear_error();
  EXPECT_EQ(openssl_failure(), "the connection ended");
  EXPECT_EQ(SSL_CTX_new(nullptr), nullptr);
  const std::string why = openssl_failure();
  EXPECT_NE(why, "the connection ended");
  EXPECT_EQ(why.find("error:"), std::string::npos) << why << " is not for people";
  EXPECT_EQ(openssl_failure(), "the connection ended") << "told before";
}

TEST(tls_context, is_made_by_a_library_with_a_version) {
  EXPECT_EQ(why_no_tls(), "");
  const std::string libraries = tls_libraries(tls_records::ham);
  EXPECT_EQ(libraries.substr(0, 8), "OpenSSL ");
  EXPECT_NE(libraries.find_first_of("0123456789"), std::string::npos) << libraries;
}

TEST(tls_context, the_cipher_is_said_by_name_and_by_number_alike) {
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  ASSERT_NE(context, nullptr);
  SSL* const ssl = SSL_new(context);
  ASSERT_NE(ssl, nullptr);
  const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, cipher_id);
  ASSERT_NE(cipher, nullptr);
  EXPECT_STREQ(SSL_CIPHER_get_name(cipher), only_cipher);
  SSL_free(ssl);
  SSL_CTX_free(context);
}

TEST(tls_context, serves_many_sessions_and_outlives_its_maker) {
  auto context = std::make_shared<tls_context>(tls_role::client, key_of(1), job_identity, tested_records());
  tls_session first(context);
  tls_session second(context);
  const std::weak_ptr<tls_context> watched = context;
  context.reset();
  EXPECT_FALSE(watched.expired());
  for (tls_session* const one : {&first, &second}) {
    EXPECT_EQ(one->shake_hands(), tls_session::status::want_input);
    EXPECT_FALSE(one->output().empty());
  }
  EXPECT_NE(first.output(), second.output()) << "each has a key exchange of its own";
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
