// One block is all that TLS needs with this hash.
#include "transport/tcp/tls_hkdf.hpp"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cassert>

namespace ham::inline v1::transport::tcp {

bool hkdf_extract(std::span<const unsigned char> salt, std::span<const unsigned char> from, hash_secret& to) {
  return HMAC(EVP_sha384(), salt.data(), static_cast<int>(salt.size()), from.data(), from.size(), to.data(), nullptr) !=
         nullptr;
}

bool hkdf_expand(const hash_secret& from, std::string_view info, std::span<unsigned char> to) {
  std::array<unsigned char, 101> text{};
  assert(to.size() <= from.size() && info.size() < text.size());
  std::copy(info.begin(), info.end(), text.begin());
  text[info.size()] = 1;  // the first block
  hash_secret block{};
  const bool made = HMAC(EVP_sha384(), from.data(), static_cast<int>(from.size()), text.data(), info.size() + 1,
                         block.data(), nullptr) != nullptr;
  std::copy_n(block.begin(), to.size(), to.begin());
  OPENSSL_cleanse(block.data(), block.size());
  return made;
}

std::string_view hkdf_label(std::size_t result_bytes, std::string_view label, std::span<const unsigned char> context,
                            std::span<char, 100> to) {
  constexpr std::string_view prefix = "tls13 ";
  std::size_t size = 0;
  assert(result_bytes <= sizeof(hash_secret) && label.size() <= 32 && context.size() <= sizeof(hash_secret));
  to[size++] = 0;
  to[size++] = static_cast<char>(result_bytes);
  to[size++] = static_cast<char>(prefix.size() + label.size());
  for (const std::string_view part : {prefix, label}) {
    std::copy(part.begin(), part.end(), to.begin() + static_cast<std::ptrdiff_t>(size));
    size += part.size();
  }
  to[size++] = static_cast<char>(context.size());
  std::copy(context.begin(), context.end(), to.begin() + static_cast<std::ptrdiff_t>(size));
  return {to.data(), size + context.size()};
}

bool hkdf_expand_label(const hash_secret& from, std::string_view label, std::span<unsigned char> to,
                       std::span<const unsigned char> context) {
  std::array<char, 100> info{};
  return hkdf_expand(from, hkdf_label(to.size(), label, context, info), to);
}

bool next_traffic_secret(hash_secret& secret) {
  hash_secret next{};
  const bool made = hkdf_expand_label(secret, "traffic upd", next);
  if (made) secret = next;
  OPENSSL_cleanse(next.data(), next.size());
  return made;
}

job_id derive_job_id(const secret_key& key) {
  constexpr std::string_view salt = "ham job";
  hash_secret extracted{};
  std::array<unsigned char, 16> derived{};
  const bool made = hkdf_extract({reinterpret_cast<const unsigned char*>(salt.data()), salt.size()},
                                 {reinterpret_cast<const unsigned char*>(key.data()), key.size()}, extracted) &&
                    hkdf_expand(extracted, "ham job identity 1", derived);
  OPENSSL_cleanse(extracted.data(), extracted.size());
  if (!made) throw config_error("OpenSSL has no SHA-384 (its policy?), which secure connections need; allow it");
  job_id result{};
  std::transform(derived.begin(), derived.end(), result.begin(),
                 [](unsigned char one) { return static_cast<std::byte>(one); });
  return result;
}

}  // namespace ham::transport::tcp
