// AES-256-GCM from every library that is here: each gives what the standard says, and opens what another has sealed.
#if defined(HAM_TCP_TLS)
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "transport/tcp/nodes.hpp"
#include "transport/tcp/tls_cipher.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

bytes from_hex(const std::string& text) {
  bytes result;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    result.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return result;
}

template <std::size_t Size>
std::array<unsigned char, Size> array_of(const bytes& from) {
  std::array<unsigned char, Size> result{};
  for (std::size_t i = 0; i < Size; ++i) result[i] = std::to_integer<unsigned char>(from.at(i));
  return result;
}

enum class library { openssl, ipsec_mb };
void PrintTo(library which, std::ostream* out) { *out << (which == library::openssl ? "openssl" : "ipsec_mb"); }

std::unique_ptr<tls_cipher> make(library which) {
  return which == library::openssl ? make_openssl_cipher() : make_ipsec_mb_cipher();
}

class ciphers : public testing::TestWithParam<std::tuple<library, library>> {
 protected:
  void SetUp() override {
    if (sealer_ == nullptr || opener_ == nullptr) {
      GTEST_SKIP() << "intel-ipsec-mb, or a processor with AVX2, is not here";
    }
    ASSERT_TRUE(sealer_->use(key_) && opener_->use(key_));
  }

  /// A little off any alignment, as records are.
  [[nodiscard]] bytes sealed(const bytes& content) const {
    bytes all(5 + content.size() + 1 + tag_bytes);
    EXPECT_TRUE(sealer_->seal(nonce_, head_, content, last_, all.data() + 5));
    return {all.begin() + 5, all.end()};
  }

  std::unique_ptr<tls_cipher> sealer_ = make(std::get<0>(GetParam()));
  std::unique_ptr<tls_cipher> opener_ = make(std::get<1>(GetParam()));
  cipher_key key_{1, 2, 3};
  cipher_nonce nonce_{4, 5, 6};
  bytes head_ = pattern(5);
  std::byte last_{23};
};

INSTANTIATE_TEST_SUITE_P(, ciphers,
                         testing::Combine(testing::Values(library::openssl, library::ipsec_mb),
                                          testing::Values(library::openssl, library::ipsec_mb)),
                         [](const auto& one) {
                           const auto name = [](library which) { return which == library::openssl ? "openssl" : "mb"; };
                           return std::string(name(std::get<0>(one.param))) + "_to_" + name(std::get<1>(one.param));
                         });

// Test case 16 of McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B.
TEST_P(ciphers, give_what_the_standard_says) {
  const auto key = array_of<32>(from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  ASSERT_TRUE(sealer_->use(key) && opener_->use(key));
  nonce_ = array_of<12>(from_hex("cafebabefacedbaddecaf888"));
  head_ = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  bytes content = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
      "ba637b39");
  last_ = content.back();
  content.pop_back();
  bytes wire = sealed(content);
  EXPECT_EQ(wire, from_hex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056"
                           "828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"));
  bytes found(content.size());
  std::byte last{};
  EXPECT_TRUE(opener_->open(nonce_, head_, wire, found.data(), last));
  EXPECT_EQ(found, content);
  EXPECT_EQ(last, last_);
}

TEST_P(ciphers, open_each_others_records_of_all_sizes) {
  std::vector<std::size_t> sizes(300);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i;
  for (const std::size_t size : {1023, 1024, 1025, 4095, 4096, 16336, 16383, 16384}) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    const bytes content = pattern(size);
    bytes wire = sealed(content);
    bytes found(size + 1, std::byte{9});
    std::byte last{};
    bytes copy = wire;
    ASSERT_TRUE(opener_->open(nonce_, head_, copy, found.data(), last)) << size;
    EXPECT_EQ(found.back(), std::byte{9}) << "a byte too many of " << size;
    found.pop_back();
    ASSERT_EQ(found, content) << size;
    ASSERT_EQ(last, last_) << size;
    last = {};
    ASSERT_TRUE(opener_->open(nonce_, head_, wire, nullptr, last)) << size << " in place";
    wire.resize(size);
    ASSERT_EQ(wire, content) << size << " in place";
    ASSERT_EQ(last, last_) << size << " in place";
  }
}

TEST_P(ciphers, refuse_what_was_changed) {
  const bytes wire = sealed(pattern(40));
  std::byte last{};
  bytes found(40);
  for (std::size_t bit = 0; bit < wire.size() * 8; ++bit) {
    bytes changed = wire;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(opener_->open(nonce_, head_, changed, found.data(), last)) << "bit " << bit;
  }
  for (std::size_t bit = 0; bit < head_.size() * 8; ++bit) {
    bytes head = head_;
    head[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    bytes copy = wire;
    EXPECT_FALSE(opener_->open(nonce_, head, copy, found.data(), last)) << "bit " << bit << " of the head";
  }
  cipher_nonce other = nonce_;
  other[11] ^= 1;
  bytes copy = wire;
  EXPECT_FALSE(opener_->open(other, head_, copy, found.data(), last)) << "another place in the order";
  key_[31] ^= 1;
  ASSERT_TRUE(opener_->use(key_));
  copy = wire;
  EXPECT_FALSE(opener_->open(nonce_, head_, copy, found.data(), last)) << "another key";
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
