// AES-256-GCM and HKDF of OpenSSL, put together as TLS 1.3 does.
#include "transport/tcp/tls_records.hpp"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ham::transport::tcp {
namespace {

/// The longest that a peer may send (section 5.2): padding is allowed, though we send none.
constexpr std::size_t longest_body = largest_content + 256;
/// Up to here a copy is cheaper than a further call for the byte behind the content.
constexpr std::size_t short_content = 1024;

/// HKDF-Expand-Label (section 7.1), for results of one block.
template <std::size_t Bytes>
bool expand(const record_keys::secret& from, std::string_view label, std::array<unsigned char, Bytes>& to) {
  static_assert(Bytes <= 48);
  std::array<unsigned char, 64> info{};
  std::size_t size = 0;
  const auto add = [&](std::string_view text) {
    std::copy(text.begin(), text.end(), info.begin() + static_cast<std::ptrdiff_t>(size));
    size += text.size();
  };
  info[size++] = 0;
  info[size++] = static_cast<unsigned char>(Bytes);
  info[size++] = static_cast<unsigned char>(6 + label.size());
  add("tls13 ");
  add(label);
  info[size++] = 0;  // no context
  info[size++] = 1;  // the first block
  std::array<unsigned char, 48> block{};
  const bool made = HMAC(EVP_sha384(), from.data(), static_cast<int>(from.size()), info.data(), size, block.data(),
                         nullptr) != nullptr;
  std::copy_n(block.begin(), Bytes, to.begin());
  OPENSSL_cleanse(block.data(), block.size());
  return made;
}

unsigned char* raw(std::byte* at) noexcept { return reinterpret_cast<unsigned char*>(at); }
const unsigned char* raw(const std::byte* at) noexcept { return reinterpret_cast<const unsigned char*>(at); }

void store_record_head(std::byte* to, std::size_t body) noexcept {
  to[0] = std::byte{23};
  to[1] = std::byte{3};
  to[2] = std::byte{3};
  to[3] = static_cast<std::byte>(body >> 8);
  to[4] = static_cast<std::byte>(body);
}

}  // namespace

record_head read_record_head(std::span<const std::byte> bytes) noexcept {
  using enum record_head::status;
  if (bytes.size() < record_head_bytes) return {};
  const std::size_t body = std::to_integer<std::size_t>(bytes[3]) << 8 | std::to_integer<std::size_t>(bytes[4]);
  if (bytes[0] != std::byte{23} || bytes[1] != std::byte{3} || body < record_tail_bytes || body > longest_body) {
    return {wrong, 0};
  }
  const std::size_t all = record_head_bytes + body;
  return {bytes.size() < all ? incomplete : whole, all};
}

record_keys::~record_keys() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
  OPENSSL_cleanse(iv_.data(), iv_.size());
}

bool record_keys::begin(const secret& first) {
  secret_ = first;
  context_.reset(EVP_CIPHER_CTX_new());
  return context_ != nullptr && use_secret();
}

bool record_keys::update() {
  secret next{};
  if (!expand(secret_, "traffic upd", next)) return false;
  secret_ = next;
  OPENSSL_cleanse(next.data(), next.size());
  return use_secret();
}

bool record_keys::use_secret() {
  count_ = 0;
  std::array<unsigned char, 32> key{};
  // Which way it is used is said again with each record.
  const bool good = expand(secret_, "key", key) && expand(secret_, "iv", iv_) &&
                    EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, key.data(), iv_.data(), 1) == 1;
  OPENSSL_cleanse(key.data(), key.size());
  return good;
}

std::array<unsigned char, 12> record_keys::next_nonce() noexcept {
  std::array<unsigned char, 12> nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) nonce[11 - i] ^= static_cast<unsigned char>(count_ >> 8 * i);
  ++count_;
  return nonce;
}

bool record_keys::seal(std::span<const std::byte> content, content_type type, std::byte* to) {
  EVP_CIPHER_CTX* const context = context_.get();
  const std::array<unsigned char, 12> nonce = next_nonce();
  store_record_head(to, content.size() + record_tail_bytes);
  std::byte* const body = to + record_head_bytes;
  std::byte* const behind = body + content.size();
  int done = 0;
  if (EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) != 1 ||
      EVP_EncryptUpdate(context, nullptr, &done, raw(to), record_head_bytes) != 1) {
    return false;
  }
  const int size = static_cast<int>(content.size());
  if (content.size() <= short_content) {
    if (!content.empty()) std::memcpy(body, content.data(), content.size());
    *behind = static_cast<std::byte>(type);
    if (EVP_EncryptUpdate(context, raw(body), &done, raw(body), size + 1) != 1) return false;
  } else {
    const auto last = static_cast<unsigned char>(type);
    if (EVP_EncryptUpdate(context, raw(body), &done, raw(content.data()), size) != 1 ||
        EVP_EncryptUpdate(context, raw(behind), &done, &last, 1) != 1) {
      return false;
    }
  }
  return EVP_EncryptFinal_ex(context, raw(behind + 1), &done) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, behind + 1) == 1;
}

bool record_keys::open(std::span<std::byte> record, std::byte* to, content_type& type) {
  EVP_CIPHER_CTX* const context = context_.get();
  const std::array<unsigned char, 12> nonce = next_nonce();
  const std::size_t content = record.size() - record_overhead;
  std::byte* const body = record.data() + record_head_bytes;
  std::byte* const tag = body + content + 1;
  std::byte last{};
  int done = 0;
  bool good = EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
              EVP_DecryptUpdate(context, nullptr, &done, raw(record.data()), record_head_bytes) == 1;
  if (to == nullptr) {
    good = good && EVP_DecryptUpdate(context, raw(body), &done, raw(body), static_cast<int>(content + 1)) == 1;
    last = body[content];
  } else {
    good = good && EVP_DecryptUpdate(context, raw(to), &done, raw(body), static_cast<int>(content)) == 1 &&
           EVP_DecryptUpdate(context, raw(&last), &done, raw(body + content), 1) == 1;
  }
  good = good && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, tag) == 1 &&
         EVP_DecryptFinal_ex(context, raw(&last), &done) == 1;
  if (!good && to != nullptr) std::memset(to, 0, content);
  type = static_cast<content_type>(last);
  return good;
}

}  // namespace ham::transport::tcp
