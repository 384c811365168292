// What is to be wiped is found by its value, never by the layout of OpenSSL's structures.
#include "transport/tcp/tls_secrets.hpp"

#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <span>

namespace ham::inline v1::transport::tcp {
namespace {

using memory = std::span<unsigned char>;

/// All of the object, as far as it is known how it was allocated.
memory memory_of(SSL* ssl) noexcept {
  CRYPTO_malloc_fn allocate = nullptr;
  CRYPTO_realloc_fn resize = nullptr;
  CRYPTO_free_fn release = nullptr;
  CRYPTO_get_mem_functions(&allocate, &resize, &release);
  if (ssl == nullptr || allocate != &CRYPTO_malloc) return {};
  return {reinterpret_cast<unsigned char*>(ssl), ::malloc_usable_size(ssl)};
}

/// Overwrites every copy. The place of the first one; memory.size(): there is none.
std::size_t wipe_all(memory where, const hash_secret& what) noexcept {
  std::size_t first = where.size();
  for (auto from = where.begin();;) {
    const auto at = std::search(from, where.end(), what.begin(), what.end());
    if (at == where.end()) return first;
    first = std::min(first, static_cast<std::size_t>(at - where.begin()));
    OPENSSL_cleanse(&*at, what.size());
    from = at + static_cast<std::ptrdiff_t>(what.size());
  }
}

/// The secret that TLS 1.3 makes of another one with nothing new mixed in (RFC 8446, section 7.1): of the handshake's
/// secret, the master secret.
bool next_secret(const hash_secret& from, hash_secret& to) noexcept {
  hash_secret nothing{};
  hash_secret derived{};
  unsigned size = 0;
  return EVP_Digest("", 0, nothing.data(), &size, EVP_sha384(), nullptr) == 1 &&
         hkdf_expand_label(from, "derived", derived, nothing) && hkdf_extract(derived, hash_secret{}, to);
}

/// The handshake's secret and the master secret are told to nobody. OpenSSL keeps all secrets in fields of one size,
/// side by side: a candidate is one if what follows from it is there, too.
void wipe_untold(memory where, std::size_t told) noexcept {
  constexpr std::ptrdiff_t field = EVP_MAX_MD_SIZE;
  constexpr std::ptrdiff_t fields_around = 16;
  hash_secret candidate{};
  hash_secret next{};
  for (std::ptrdiff_t i = -fields_around; i <= fields_around; ++i) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(told) + i * field;
    if (at < 0 || static_cast<std::size_t>(at) + candidate.size() > where.size()) continue;
    std::copy_n(where.begin() + at, candidate.size(), candidate.begin());
    if (!next_secret(candidate, next)) break;
    if (wipe_all(where, next) != where.size()) wipe_all(where, candidate);
  }
  OPENSSL_cleanse(candidate.data(), candidate.size());
  OPENSSL_cleanse(next.data(), next.size());
}

}  // namespace

void handshake_secrets::learn(std::string_view line) noexcept {
  constexpr std::string_view labels[count] = {"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_HANDSHAKE_TRAFFIC_SECRET ",
                                              "CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 ",
                                              "EXPORTER_SECRET "};
  const auto label =
      std::find_if(std::begin(labels), std::end(labels), [&](auto one) { return line.starts_with(one); });
  const std::size_t at = line.rfind(' ');
  if (label == std::end(labels) || at == std::string_view::npos) return;
  const std::string_view digits = line.substr(at + 1);
  const auto which = static_cast<std::size_t>(label - std::begin(labels));
  hash_secret& to = all_[which];
  if (digits.size() != 2 * to.size()) return;
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10; };
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<unsigned char>(value(digits[2 * i]) << 4 | value(digits[2 * i + 1]));
  }
  known_[which] = true;
}

void handshake_secrets::advance(which one) noexcept {
  if (known_[one]) known_[one] = next_traffic_secret(all_[one]);
}

void handshake_secrets::wipe_key_in(ssl_st* ssl, const secret_key& key) noexcept {
  wipe_key_in_memory(memory_of(ssl), key);
  constexpr unsigned char nothing[sizeof key] = {};
  SSL_SESSION* const session = SSL_get_session(ssl);
  if (session != nullptr) static_cast<void>(SSL_SESSION_set1_master_key(session, nothing, sizeof nothing));
}

void handshake_secrets::wipe_in(ssl_st* ssl) const noexcept { wipe_in_memory(memory_of(ssl)); }

void handshake_secrets::wipe_key_in_memory(memory where, const secret_key& key) noexcept {
  if (where.empty()) return;
  hash_secret early{};
  if (hkdf_extract(hash_secret{}, {reinterpret_cast<const unsigned char*>(key.data()), key.size()}, early)) {
    wipe_all(where, early);
  }
  OPENSSL_cleanse(early.data(), early.size());
}

void handshake_secrets::wipe_in_memory(memory where) const noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (!known_[i]) continue;
    const std::size_t at = wipe_all(where, all_[i]);
    if (i == client_traffic && at != where.size()) wipe_untold(where, at);
  }
}

void handshake_secrets::wipe() noexcept {
  for (hash_secret& one : all_) OPENSSL_cleanse(one.data(), one.size());
  known_.fill(false);
}

}  // namespace ham::transport::tcp
