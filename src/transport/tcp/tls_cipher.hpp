// AES-256-GCM (NIST SP 800-38D) as records of TLS 1.3 use it, from whichever library is quickest here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ham::inline v1::transport::tcp {

inline constexpr std::size_t tag_bytes = 16;
using cipher_key = std::array<unsigned char, 32>;
using cipher_nonce = std::array<unsigned char, 12>;

/// One key, many records. Wipes the key when it goes. One thread at a time.
class tls_cipher {
 public:
  tls_cipher() = default;
  virtual ~tls_cipher() = default;
  tls_cipher(const tls_cipher&) = delete;
  tls_cipher& operator=(const tls_cipher&) = delete;

  /// Which library it is, with its version; empty: the one that shakes hands.
  [[nodiscard]] virtual std::string made_by() const { return {}; }
  /// The key from now on. False: the library cannot.
  [[nodiscard]] virtual bool use(const cipher_key& key) = 0;
  /// Encrypts `content` and then the byte `last` to `to`, and writes the tag of both and of `head` behind them. Neither
  /// may overlap with `to`. False: the library cannot.
  [[nodiscard]] virtual bool seal(const cipher_nonce& nonce, std::span<const std::byte> head,
                                  std::span<const std::byte> content, std::byte last, std::byte* to) = 0;
  /// Takes apart what seal() has made, at `sealed`: the content goes to `to`, or stays in place (nullptr). False: it
  /// was not made with this key, nonce and head; then what is at `to` is neither that content nor to be used.
  [[nodiscard]] virtual bool open(const cipher_nonce& nonce, std::span<const std::byte> head,
                                  std::span<std::byte> sealed, std::byte* to, std::byte& last) = 0;
};

/// The quickest that there is on this machine; nullptr: OpenSSL has none.
[[nodiscard]] std::unique_ptr<tls_cipher> make_cipher();

/// nullptr: OpenSSL has none.
[[nodiscard]] std::unique_ptr<tls_cipher> make_openssl_cipher();

/// Intel's Multi-Buffer Crypto for IPsec Library, which takes less time to begin a record and, with AVX-512 and
/// VAES, half as long for what it holds. nullptr: it was not there when HAM was built, is not here, is another version,
/// fails its own test, or the processor lacks AVX2.
[[nodiscard]] std::unique_ptr<tls_cipher> make_ipsec_mb_cipher();

}  // namespace ham::transport::tcp
