// The bytes of records: those that RFC 8448 shows, those that another implementation makes, and heads that lie.
#if defined(HAM_TCP_TLS)
#include "transport/tcp/tls_records.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

/// Digits with blanks between them.
bytes hex(std::string_view text) {
  bytes result;
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char one) { return one != ' '; });
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    result.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return result;
}

/// 0, 1, 2, ...
bytes counted(std::size_t size) {
  bytes result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::byte>(i);
  return result;
}

// ---- RFC 8448, section 3

/// The cipher of its traces, which HAM does not offer: AES-128-GCM. The key is the first half.
class aes_128_gcm final : public tls_cipher {
 public:
  explicit aes_128_gcm(const bytes& key) : key_(key) {}
  ~aes_128_gcm() override { EVP_CIPHER_CTX_free(context_); }

  bool use(const cipher_key&) override { return false; }
  bool seal(const cipher_nonce& nonce, std::span<const std::byte> head, std::span<const std::byte> content,
            std::byte last, std::byte* to) override {
    return begin(nonce, head, 1) && step(content, to) && step({&last, 1}, to + content.size()) && finish() &&
           EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_GET_TAG, tag_bytes, to + content.size() + 1) == 1;
  }
  bool open(const cipher_nonce& nonce, std::span<const std::byte> head, std::span<std::byte> sealed, std::byte* to,
            std::byte& last) override {
    const std::size_t body = sealed.size() - tag_bytes;
    bytes plain(body);
    const bool good = begin(nonce, head, 0) && step(sealed.first(body), plain.data()) &&
                      EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_SET_TAG, tag_bytes, &sealed[body]) == 1 && finish();
    last = plain.back();
    std::copy(plain.begin(), plain.end() - 1, to != nullptr ? to : sealed.data());
    return good;
  }

 private:
  static const unsigned char* raw(const std::byte* at) { return reinterpret_cast<const unsigned char*>(at); }
  bool begin(const cipher_nonce& nonce, std::span<const std::byte> head, int encrypt) {
    int size = 0;
    return EVP_CipherInit_ex(context_, EVP_aes_128_gcm(), nullptr, raw(key_.data()), nonce.data(), encrypt) == 1 &&
           EVP_CipherUpdate(context_, nullptr, &size, raw(head.data()), static_cast<int>(head.size())) == 1;
  }
  bool step(std::span<const std::byte> from, std::byte* to) {
    int size = 0;
    return EVP_CipherUpdate(context_, reinterpret_cast<unsigned char*>(to), &size, raw(from.data()),
                            static_cast<int>(from.size())) == 1;
  }
  bool finish() {
    unsigned char none[16];
    int size = 0;
    return EVP_CipherFinal_ex(context_, none, &size) == 1;
  }

  bytes key_;
  EVP_CIPHER_CTX* context_ = EVP_CIPHER_CTX_new();
};

struct trace {
  const char* who;
  const char* secret;
  const char* key;
  const char* iv;
  struct record {
    content_type type;
    const char* content;  // nullptr: the octets 0 to 49
    const char* wire;
  };
  std::vector<record> records;
};

const char* const new_ticket =
    "04 00 00 c9 00 00 00 1e fa d6 aa c5 02 00 00 00 b2 2c 03 5d 82 93 59 ee 5f f7 af 4e c9 00 00 00 00 26 2a 64 94 dc "
    "48 6d 2c 8a 34 cb 33 fa 90 bf 1b 00 70 ad 3c 49 88 83 c9 36 7c 09 a2 be 78 5a bc 55 cd 22 60 97 a3 a9 82 11 72 83 "
    "f8 2a 03 a1 43 ef d3 ff 5d d3 6d 64 e8 61 be 7f d6 1d 28 27 db 27 9c ce 14 50 77 d4 54 a3 66 4d 4e 6d a4 d2 9e e0 "
    "37 25 a6 a4 da fc d0 fc 67 d2 ae a7 05 29 51 3e 3d a2 67 7f a5 90 6c 5b 3f 7d 8f 92 f2 28 bd a4 0d da 72 14 70 f9 "
    "fb f2 97 b5 ae a6 17 64 6f ac 5c 03 27 2e 97 07 27 c6 21 a7 91 41 ef 5f 7d e6 50 5e 5b fb c3 88 e9 33 43 69 40 93 "
    "93 4a e4 d3 57 00 08 00 2a 00 04 00 00 04 00";

/// EncryptedExtensions, Certificate, CertificateVerify and Finished.
const char* const server_flight =
    "08 00 00 24 00 22 00 0a 00 14 00 12 00 1d 00 17 00 18 00 19 01 00 01 01 01 02 01 03 01 04 00 1c 00 02 40 01 00 "
    "00 00 00 0b 00 01 b9 00 00 01 b5 00 01 b0 30 82 01 ac 30 82 01 15 a0 03 02 01 02 02 01 02 30 0d 06 09 2a 86 48 "
    "86 f7 0d 01 01 0b 05 00 30 0e 31 0c 30 0a 06 03 55 04 03 13 03 72 73 61 30 1e 17 0d 31 36 30 37 33 30 30 31 32 "
    "33 35 39 5a 17 0d 32 36 30 37 33 30 30 31 32 33 35 39 5a 30 0e 31 0c 30 0a 06 03 55 04 03 13 03 72 73 61 30 81 "
    "9f 30 0d 06 09 2a 86 48 86 f7 0d 01 01 01 05 00 03 81 8d 00 30 81 89 02 81 81 00 b4 bb 49 8f 82 79 30 3d 98 08 "
    "36 39 9b 36 c6 98 8c 0c 68 de 55 e1 bd b8 26 d3 90 1a 24 61 ea fd 2d e4 9a 91 d0 15 ab bc 9a 95 13 7a ce 6c 1a "
    "f1 9e aa 6a f9 8c 7c ed 43 12 09 98 e1 87 a8 0e e0 cc b0 52 4b 1b 01 8c 3e 0b 63 26 4d 44 9a 6d 38 e2 2a 5f da "
    "43 08 46 74 80 30 53 0e f0 46 1c 8c a9 d9 ef bf ae 8e a6 d1 d0 3e 2b d1 93 ef f0 ab 9a 80 02 c4 74 28 a6 d3 5a "
    "8d 88 d7 9f 7f 1e 3f 02 03 01 00 01 a3 1a 30 18 30 09 06 03 55 1d 13 04 02 30 00 30 0b 06 03 55 1d 0f 04 04 03 "
    "02 05 a0 30 0d 06 09 2a 86 48 86 f7 0d 01 01 0b 05 00 03 81 81 00 85 aa d2 a0 e5 b9 27 6b 90 8c 65 f7 3a 72 67 "
    "17 06 18 a5 4c 5f 8a 7b 33 7d 2d f7 a5 94 36 54 17 f2 ea e8 f8 a5 8c 8f 81 72 f9 31 9c f3 6b 7f d6 c5 5b 80 f2 "
    "1a 03 01 51 56 72 60 96 fd 33 5e 5e 67 f2 db f1 02 70 2e 60 8c ca e6 be c1 fc 63 a4 2a 99 be 5c 3e b7 10 7c 3c "
    "54 e9 b9 eb 2b d5 20 3b 1c 3b 84 e0 a8 b2 f7 59 40 9b a3 ea c9 d9 1d 40 2d cc 0c c8 f8 96 12 29 ac 91 87 b4 2b "
    "4d e1 00 00 0f 00 00 84 08 04 00 80 5a 74 7c 5d 88 fa 9b d2 e5 5a b0 85 a6 10 15 b7 21 1f 82 4c d4 84 14 5a b3 "
    "ff 52 f1 fd a8 47 7b 0b 7a bc 90 db 78 e2 d3 3a 5c 14 1a 07 86 53 fa 6b ef 78 0c 5e a2 48 ee aa a7 85 c4 f3 94 "
    "ca b6 d3 0b be 8d 48 59 ee 51 1f 60 29 57 b1 54 11 ac 02 76 71 45 9e 46 44 5c 9e a5 8c 18 1e 81 8e 95 b8 c3 fb "
    "0b f3 27 84 09 d3 be 15 2a 3d a5 04 3e 06 3d da 65 cd f5 ae a2 0d 53 df ac d4 2f 74 f3 14 00 00 20 9b 9b 14 1d "
    "90 63 37 fb d2 cb dc e7 1d f4 de da 4a b4 2c 30 95 72 cb 7f ff ee 54 54 b7 8f 07 18";

const trace traces[] = {
    {"the client, while it greets",
     "b3 ed db 12 6e 06 7f 35 a7 80 b3 ab f4 5e 2d 8f 3b 1a 95 07 38 f5 2e 96 00 74 6a 0e 27 a5 5a 21",
     "db fa a6 93 d1 76 2c 5b 66 6a f5 d9 50 25 8d 01",
     "5b d3 c7 1b 83 6e 0b 76 bb 73 26 5f",
     {{content_type::handshake,
       "14 00 00 20 a8 ec 43 6d 67 76 34 ae 52 5a c1 fc eb e1 1a 03 9e c1 76 94 fa c6 e9 85 27 b6 42 f2 ed d5 ce 61",
       "17 03 03 00 35 75 ec 4d c2 38 cc e6 0b 29 80 44 a7 1e 21 9c 56 cc 77 b0 51 7f e9 b9 3c 7a 4b fc 44 d8 7f 38 "
       "f8 03 38 ac 98 fc 46 de b3 84 bd 1c ae ac ab 68 67 d7 26 c4 05 46"}}},
    {"the server, while it greets",
     "b6 7b 7d 69 0c c1 6c 4e 75 e5 42 13 cb 2d 37 b4 e9 c9 12 bc de d9 10 5d 42 be fd 59 d3 91 ad 38",
     "3f ce 51 60 09 c2 17 27 d0 f2 e4 e8 6e e4 03 bc",
     "5d 31 3e b2 67 12 76 ee 13 00 0b 30",
     {{content_type::handshake, server_flight,
       "17 03 03 02 a2 d1 ff 33 4a 56 f5 bf f6 59 4a 07 cc 87 b5 80 23 3f 50 0f 45 e4 89 e7 f3 3a f3 5e df 78 69 fc "
       "f4 0a a4 0a a2 b8 ea 73 f8 48 a7 ca 07 61 2e f9 f9 45 cb 96 0b 40 68 90 51 23 ea 78 b1 11 b4 29 ba 91 91 cd "
       "05 d2 a3 89 28 0f 52 61 34 aa dc 7f c7 8c 4b 72 9d f8 28 b5 ec f7 b1 3b d9 ae fb 0e 57 f2 71 58 5b 8e a9 bb "
       "35 5c 7c 79 02 07 16 cf b9 b1 18 3e f3 ab 20 e3 7d 57 a6 b9 d7 47 76 09 ae e6 e1 22 a4 cf 51 42 73 25 25 0c "
       "7d 0e 50 92 89 44 4c 9b 3a 64 8f 1d 71 03 5d 2e d6 5b 0e 3c dd 0c ba e8 bf 2d 0b 22 78 12 cb b3 60 98 72 55 "
       "cc 74 41 10 c4 53 ba a4 fc d6 10 92 8d 80 98 10 e4 b7 ed 1a 8f d9 91 f0 6a a6 24 82 04 79 7e 36 a6 a7 3b 70 "
       "a2 55 9c 09 ea d6 86 94 5b a2 46 ab 66 e5 ed d8 04 4b 4c 6d e3 fc f2 a8 94 41 ac 66 27 2f d8 fb 33 0e f8 19 "
       "05 79 b3 68 45 96 c9 60 bd 59 6e ea 52 0a 56 a8 d6 50 f5 63 aa d2 74 09 96 0d ca 63 d3 e6 88 61 1e a5 e2 2f "
       "44 15 cf 95 38 d5 1a 20 0c 27 03 42 72 96 8a 26 4e d6 54 0c 84 83 8d 89 f7 2c 24 46 1a ad 6d 26 f5 9e ca ba "
       "9a cb bb 31 7b 66 d9 02 f4 f2 92 a3 6a c1 b6 39 c6 37 ce 34 31 17 b6 59 62 22 45 31 7b 49 ee da 0c 62 58 f1 "
       "00 d7 d9 61 ff b1 38 64 7e 92 ea 33 0f ae ea 6d fa 31 c7 a8 4d c3 bd 7e 1b 7a 6c 71 78 af 36 87 90 18 e3 f2 "
       "52 10 7f 24 3d 24 3d c7 33 9d 56 84 c8 b0 37 8b f3 02 44 da 8c 87 c8 43 f5 e5 6e b4 c5 e8 28 0a 2b 48 05 2c "
       "f9 3b 16 49 9a 66 db 7c ca 71 e4 59 94 26 f7 d4 61 e6 6f 99 88 2b d8 9f c5 08 00 be cc a6 2d 6c 74 11 6d bd "
       "29 72 fd a1 fa 80 f8 5d f8 81 ed be 5a 37 66 89 36 b3 35 58 3b 59 91 86 dc 5c 69 18 a3 96 fa 48 a1 81 d6 b6 "
       "fa 4f 9d 62 d5 13 af bb 99 2f 2b 99 2f 67 f8 af e6 7f 76 91 3f a3 88 cb 56 30 c8 ca 01 e0 c6 5d 11 c6 6a 1e "
       "2a c4 c8 59 77 b7 c7 a6 99 9b bf 10 dc 35 ae 69 f5 51 56 14 63 6c 0b 9b 68 c1 9e d2 e3 1c 0b 3b 66 76 30 38 "
       "eb ba 42 f3 b3 8e dc 03 99 f3 a9 f2 3f aa 63 97 8c 31 7f c9 fa 66 a7 3f 60 f0 50 4d e9 3b 5b 84 5e 27 55 92 "
       "c1 23 35 ee 34 0b bc 4f dd d5 02 78 40 16 e4 b3 be 7e f0 4d da 49 f4 b4 40 a3 0c b5 d2 af 93 98 28 fd 4a e3 "
       "79 4e 44 f9 4d f5 a6 31 ed e4 2c 17 19 bf da bf 02 53 fe 51 75 be 89 8e 75 0e dc 53 37 0d 2b"}}},
    {"the client",
     "9e 40 64 6c e7 9a 7f 9d c0 5a f8 88 9b ce 65 52 87 5a fa 0b 06 df 00 87 f7 92 eb b7 c1 75 04 a5",
     "17 42 2d da 59 6e d5 d9 ac d8 90 e3 c6 3f 50 51",
     "5b 78 92 3d ee 08 57 90 33 e5 23 d9",
     {{content_type::data, nullptr,
       "17 03 03 00 43 a2 3f 70 54 b6 2c 94 d0 af fa fe 82 28 ba 55 cb ef ac ea 42 f9 14 aa 66 bc ab 3f 2b 98 19 a8 a5 "
       "b4 6b 39 5b d5 4a 9a 20 44 1e 2b 62 97 4e 1f 5a 62 92 a2 97 70 14 bd 1e 3d ea e6 3a ee bb 21 69 49 15 e4"},
      {content_type::alert, "01 00", "17 03 03 00 13 c9 87 27 60 65 56 66 b7 4d 7f f1 15 3e fd 6d b6 d0 b0 e3"}}},
    {"the server",
     "a1 1a f9 f0 55 31 f8 56 ad 47 11 6b 45 a9 50 32 82 04 b4 f4 4b fb 6b 3a 4b 4f 1f 3f cb 63 16 43",
     "9f 02 28 3b 6c 9c 07 ef c2 6b b9 f2 ac 92 e3 56",
     "cf 78 2b 88 dd 83 54 9a ad f1 e9 84",
     {{content_type::handshake, new_ticket,
       "17 03 03 00 de 3a 6b 8f 90 41 4a 97 d6 95 9c 34 87 68 0d e5 13 4a 2b 24 0e 6c ff ac 11 6e 95 d4 1d 6a f8 f6 b5 "
       "80 dc f3 d1 1d 63 c7 58 db 28 9a 01 59 40 25 2f 55 71 3e 06 1d c1 3e 07 88 91 a3 8e fb cf 57 53 ad 8e f1 70 ad "
       "3c 73 53 d1 6d 9d a7 73 b9 ca 7f 2b 9f a1 b6 c0 d4 a3 d0 3f 75 e0 9c 30 ba 1e 62 97 2a c4 6f 75 f7 b9 81 be 63 "
       "43 9b 29 99 ce 13 06 46 15 13 98 91 d5 e4 c5 b4 06 f1 6e 3f c1 81 a7 7c a4 75 84 00 25 db 2f 0a 77 f8 1b 5a b0 "
       "5b 94 c0 13 46 75 5f 69 23 2c 86 51 9d 86 cb ee ac 87 aa c3 47 d1 43 f9 60 5d 64 f6 50 db 4d 02 3e 70 e9 52 ca "
       "49 fe 51 37 12 1c 74 bc 26 97 68 7e 24 87 46 d6 df 35 30 05 f3 bc e1 86 96 12 9c 81 53 55 6b 3b 6c 67 79 b3 7b "
       "f1 59 85 68 4f"},
      {content_type::data, nullptr,
       "17 03 03 00 43 2e 93 7e 11 ef 4a c7 40 e5 38 ad 36 00 5f c4 a4 69 32 fc 32 25 d0 5f 82 aa 1b 36 e3 0e fa f9 7d "
       "90 e6 df fc 60 2d cb 50 1a 59 a8 fc c4 9c 4b f2 e5 f0 a2 1c 00 47 c2 ab f3 32 54 0d d0 32 e1 67 c2 95 5d"},
      {content_type::alert, "01 00", "17 03 03 00 13 b5 8f d6 71 66 eb f5 99 d2 47 20 cf be 7e fa 7a 88 64 a9"}}},
};

void begin(record_protection& records, const trace& of) {
  cipher_nonce iv{};
  const bytes text = hex(of.iv);
  std::transform(text.begin(), text.end(), iv.begin(),
                 [](std::byte one) { return std::to_integer<unsigned char>(one); });
  records.begin(std::make_unique<aes_128_gcm>(hex(of.key)), iv);
}

TEST(rfc_8448, records_are_those_of_its_traces) {
  for (const trace& one : traces) {
    record_protection sealing;
    record_protection opening;
    begin(sealing, one);
    begin(opening, one);
    for (const trace::record& each : one.records) {
      SCOPED_TRACE(std::string(one.who) + ", record " + std::to_string(sealing.count()));
      const bytes content = each.content == nullptr ? counted(50) : hex(each.content);
      const bytes expected = hex(each.wire);
      bytes made(content.size() + record_overhead);
      ASSERT_TRUE(sealing.seal(content, each.type, made.data()));
      EXPECT_EQ(made, expected);
      EXPECT_EQ(read_record_head(expected).bytes, expected.size());
      bytes wire = expected;
      bytes found(content.size());
      content_type type{};
      ASSERT_TRUE(opening.open(wire, found.data(), type));
      EXPECT_EQ(type, each.type);
      EXPECT_EQ(found, content);
    }
  }
}

/// With SHA-256, which HAM does not offer either: what is expanded is the same.
TEST(rfc_8448, keys_are_expanded_with_its_labels) {
  const auto expect_expanded = [](const char* secret, std::string_view label, const char* expected) {
    const bytes wanted = hex(expected);
    std::array<char, 100> room{};
    std::string info(hkdf_label(wanted.size(), label, {}, room));
    info += '\1';  // the first block of HKDF-Expand
    const bytes from = hex(secret);
    std::array<std::byte, SHA256_DIGEST_LENGTH> block{};
    unsigned size = 0;
    ASSERT_NE(HMAC(EVP_sha256(), from.data(), static_cast<int>(from.size()),
                   reinterpret_cast<const unsigned char*>(info.data()), info.size(),
                   reinterpret_cast<unsigned char*>(block.data()), &size),
              nullptr);
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), block.begin())) << label;
  };
  for (const trace& one : traces) {
    expect_expanded(one.secret, "key", one.key);
    expect_expanded(one.secret, "iv", one.iv);
  }
  std::array<char, 100> room{};
  const auto label = [&](std::size_t size, std::string_view name, std::span<const unsigned char> context = {}) {
    const std::string_view text = hkdf_label(size, name, context, room);
    const auto* const at = reinterpret_cast<const std::byte*>(text.data());
    return bytes(at, at + text.size());
  };
  EXPECT_EQ(label(16, "key"), hex("00 10 09 74 6c 73 31 33 20 6b 65 79 00"));
  EXPECT_EQ(label(12, "iv"), hex("00 0c 08 74 6c 73 31 33 20 69 76 00"));
  EXPECT_EQ(label(32, "finished"), hex("00 20 0e 74 6c 73 31 33 20 66 69 6e 69 73 68 65 64 00"));
  constexpr unsigned char nonce[] = {0, 0};
  EXPECT_EQ(label(32, "resumption", nonce), hex("00 20 10 74 6c 73 31 33 20 72 65 73 75 6d 70 74 69 6f 6e 02 00 00"));
}

// ---- computed by tlslite-ng, whose AES, GCM and HKDF are written in Python

hash_secret counted_secret() {
  hash_secret secret{};
  std::iota(secret.begin(), secret.end(), static_cast<unsigned char>(0));
  return secret;
}

TEST(record_vectors, are_those_of_an_independent_implementation) {
  record_keys sealing{tls_session::usual_record_limit};
  ASSERT_TRUE(sealing.begin(counted_secret()));
  const auto sealed = [&](const bytes& content, content_type type) {
    bytes result(content.size() + record_overhead);
    EXPECT_TRUE(sealing.seal(content, type, result.data()));
    return result;
  };
  EXPECT_EQ(sealed(counted(50), content_type::data),
            hex("17 03 03 00 43 48 36 7d 3f 11 08 b0 82 99 cd 5f ed f3 57 7a 5a d5 cb af 77 a5 08 fe c3 8d a5 04 3a 10 "
                "a1 75 91 ac a6 68 89 28 75 dc 0c c3 55 98 12 5d 17 39 77 84 81 ad 6b 3d a8 65 96 7b 5b 46 0f 25 cd c7 "
                "9a b1 e2 a4"));
  EXPECT_EQ(sealed(hex("18 00 00 01 00"), content_type::handshake),
            hex("17 03 03 00 16 85 11 79 f1 c4 58 04 03 b2 c8 59 16 c3 0b eb 04 d3 e3 ee 86 89 dc"));
  ASSERT_TRUE(sealing.update());
  EXPECT_EQ(sealed(hex("01 00"), content_type::alert),
            hex("17 03 03 00 13 2d 95 b6 10 37 66 62 98 27 91 9e b2 d9 59 2c 9e 32 e7 80"));
}

TEST(record_vectors, secrets_follow_each_other) {
  hash_secret secret = counted_secret();
  ASSERT_TRUE(next_traffic_secret(secret));
  const bytes expected =
      hex("401331b63e9d59f202e8f041042d9516f4cd7fa2e2ee14631d3b49fc340d7af37fc2c0c9f252d8036f81ec5b85cbe5db");
  EXPECT_TRUE(std::ranges::equal(secret, expected, {}, [](unsigned char one) { return std::byte{one}; }));
}

/// Every class of sizes: empty, around a block of the cipher, around what is opened in place, as long as may be.
TEST(record_vectors, every_class_of_sizes) {
  record_keys sealing{tls_session::usual_record_limit};
  record_keys opening{tls_session::usual_record_limit};
  ASSERT_TRUE(sealing.begin(counted_secret()) && opening.begin(counted_secret()));
  bytes all;
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 255U, 256U, 2047U, 2048U, 16383U, 16384U}) {
    bytes record(size + record_overhead);
    ASSERT_TRUE(sealing.seal(pattern(size), content_type::data, record.data()));
    all.insert(all.end(), record.begin(), record.end());
    content_type type{};
    ASSERT_TRUE(opening.open(record, nullptr, type));
    EXPECT_EQ(type, content_type::data);
    EXPECT_TRUE(std::ranges::equal(pattern(size), std::span(record).subspan(record_head_bytes, size))) << size;
  }
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  unsigned size = 0;
  ASSERT_EQ(EVP_Digest(all.data(), all.size(), digest.data(), &size, EVP_sha256(), nullptr), 1);
  const bytes expected = hex("5af437a4d259873377f3271276e8847538227109ec27151a12f13da9943a836a");
  EXPECT_TRUE(std::ranges::equal(digest, expected, {}, [](unsigned char one) { return std::byte{one}; }));
}

// ---- what a head may say

TEST(record_heads, lie_in_every_field) {
  using enum record_head::status;
  const auto status_of = [](std::initializer_list<int> values) {
    bytes head;
    for (const int one : values) head.push_back(static_cast<std::byte>(one));
    return read_record_head(head).is;
  };
  EXPECT_EQ(status_of({}), incomplete);
  EXPECT_EQ(status_of({23, 3, 3, 0}), incomplete);
  EXPECT_EQ(status_of({23, 3, 3, 0, 17}), incomplete);
  EXPECT_EQ(status_of({23, 3, 1, 0, 17}), incomplete) << "the version is authenticated with the record";
  EXPECT_EQ(status_of({23, 3, 3, 0, 16}), wrong) << "a type and a tag are not in it";
  EXPECT_EQ(status_of({23, 3, 3, 0, 0}), wrong);
  EXPECT_EQ(status_of({23, 2, 0, 0, 17}), wrong);
  for (const int type : {0, 20, 21, 22, 24, 255}) EXPECT_EQ(status_of({type, 3, 3, 0, 17}), wrong) << type;
  constexpr int longest = 16384 + 17;
  EXPECT_EQ(status_of({23, 3, 3, longest >> 8, longest & 0xff}), incomplete);
  EXPECT_EQ(status_of({23, 3, 3, (longest + 1) >> 8, (longest + 1) & 0xff}), too_long);
  EXPECT_EQ(status_of({23, 3, 3, 255, 255}), too_long);
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
