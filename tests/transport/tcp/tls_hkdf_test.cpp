// HKDF against results of other implementations; what a key's job identity says of the key.
#if defined(HAM_TCP_TLS)
#include "transport/tcp/tls_hkdf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

TEST(hkdf, is_the_one_of_rfc_5869) {
  // RFC 5869 has no vectors for SHA-384; these are Python's hmac.
  std::array<unsigned char, 22> input{};
  input.fill(0x0b);
  const std::array<unsigned char, 3> salt{1, 2, 3};
  hash_secret secret{};
  ASSERT_TRUE(hkdf_extract(salt, input, secret));
  std::array<unsigned char, 8> expanded{};
  ASSERT_TRUE(hkdf_expand(secret, "info", expanded));
  const std::array<unsigned char, 8> expected{0x29, 0x27, 0x21, 0x2a, 0x48, 0x10, 0xa8, 0x4b};
  EXPECT_EQ(expanded, expected);
}

TEST(hkdf, expands_labels_as_tls_does) {
  constexpr unsigned char hash_of_nothing[] = {0x38, 0xb0, 0x60, 0xa7, 0x51, 0xac, 0x96, 0x38, 0x4c, 0xd9, 0x32, 0x7e,
                                               0xb1, 0xb1, 0xe3, 0x6a, 0x21, 0xfd, 0xb7, 0x11, 0x14, 0xbe, 0x07, 0x43,
                                               0x4c, 0x0c, 0xc7, 0xbf, 0x63, 0xf6, 0xe1, 0xda, 0x27, 0x4e, 0xde, 0xbf,
                                               0xe7, 0x6f, 0x65, 0xfb, 0xd5, 0x1a, 0xd2, 0xf1, 0x48, 0x98, 0xb9, 0x5b};
  /// The inputs of RFC 5869, test case 1, with SHA-384.
  const std::array<unsigned char, 13> salt{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::array<unsigned char, 22> input{};
  input.fill(0x0b);
  hash_secret secret{};
  ASSERT_TRUE(hkdf_extract(salt, input, secret));
  hash_secret derived{};
  ASSERT_TRUE(hkdf_expand_label(secret, "derived", derived, hash_of_nothing));
  const hash_secret expected{0xc6, 0x07, 0xf4, 0x84, 0x31, 0x9d, 0x8e, 0xfa, 0x03, 0xb1, 0xd0, 0x41,
                             0x72, 0xe0, 0x44, 0x2e, 0x7f, 0x39, 0xd1, 0x87, 0xb2, 0x10, 0x52, 0x21,
                             0x74, 0xd1, 0x95, 0xa5, 0xbf, 0x39, 0xdc, 0xc6, 0xcc, 0xcb, 0x27, 0xb0,
                             0x4b, 0x0e, 0x99, 0x8b, 0x13, 0x8c, 0x08, 0x26, 0x19, 0x46, 0xa6, 0x7a};
  EXPECT_EQ(derived, expected);
}

TEST(hkdf, identities_of_jobs_tell_nothing_of_their_keys) {
  const std::array<unsigned char, 16> expected{0xf0, 0x80, 0xf8, 0xfb, 0x74, 0xb9, 0x3e, 0x2c,
                                               0xe5, 0xa6, 0xf7, 0x6c, 0xae, 0x86, 0xa7, 0xf8};
  const job_id of_42 = id_of(key_of(42), true);
  EXPECT_TRUE(std::equal(of_42.begin(), of_42.end(), expected.begin(),
                         [](std::byte one, unsigned char other) { return one == std::byte{other}; }));
  EXPECT_NE(id_of(key_of(43), true), of_42);
}

TEST(hkdf, an_identity_without_security_is_no_secret) {
  secret_key key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  const job_id open = id_of(key, false);
  EXPECT_TRUE(std::equal(open.begin(), open.end(), key.begin()));
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
