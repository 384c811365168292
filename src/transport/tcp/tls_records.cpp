// AES-256-GCM and OpenSSL's HKDF, put together as TLS 1.3 does.
#include "transport/tcp/tls_records.hpp"

#include <openssl/crypto.h>

#include <cstring>
#include <utility>

namespace ham::inline v1::transport::tcp {
namespace {

/// RFC 8446, section 5.4: content, its type and padding together. The tag comes behind them.
constexpr std::size_t max_body = largest_content + 1 + tag_bytes;

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
  if (bytes[0] != std::byte{23} || bytes[1] != std::byte{3} || body < record_tail_bytes) return {wrong, 0};
  if (body > max_body) return {too_long, 0};
  const std::size_t all = record_head_bytes + body;
  return {bytes.size() < all ? incomplete : whole, all};
}

// ---- one key

record_protection::~record_protection() { OPENSSL_cleanse(iv_.data(), iv_.size()); }

void record_protection::begin(std::unique_ptr<tls_cipher> cipher, const cipher_nonce& iv) {
  cipher_ = std::move(cipher);
  iv_ = iv;
  count_ = 0;
}

bool record_protection::go_on(const cipher_key& key, const cipher_nonce& iv) {
  iv_ = iv;
  count_ = 0;
  return cipher_->use(key);
}

cipher_nonce record_protection::next_nonce() noexcept {
  cipher_nonce nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) nonce[11 - i] ^= static_cast<unsigned char>(count_ >> 8 * i);
  ++count_;
  return nonce;
}

bool record_protection::seal(std::span<const std::byte> content, content_type type, std::byte* to) {
  store_record_head(to, content.size() + record_tail_bytes);
  return cipher_->seal(next_nonce(), {to, record_head_bytes}, content, static_cast<std::byte>(type),
                       to + record_head_bytes);
}

bool record_protection::open(std::span<std::byte> record, std::byte* to, content_type& type) {
  std::byte last{};
  const bool good =
      cipher_->open(next_nonce(), record.first(record_head_bytes), record.subspan(record_head_bytes), to, last);
  if (!good && to != nullptr) std::memset(to, 0, record.size() - record_overhead);
  type = static_cast<content_type>(last);
  return good;
}

// ---- one key after the other

record_keys::~record_keys() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

bool record_keys::begin(const secret& first) {
  secret_ = first;
  auto cipher = make_cipher();
  if (cipher == nullptr) return false;
  records_.begin(std::move(cipher), {});
  return use_secret();
}

bool record_keys::update() { return next_traffic_secret(secret_) && use_secret(); }

bool record_keys::use_secret() {
  cipher_key key{};
  cipher_nonce iv{};
  const bool good =
      hkdf_expand_label(secret_, "key", key) && hkdf_expand_label(secret_, "iv", iv) && records_.go_on(key, iv);
  OPENSSL_cleanse(key.data(), key.size());
  OPENSSL_cleanse(iv.data(), iv.size());
  return good;
}

}  // namespace ham::transport::tcp
