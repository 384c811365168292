// The secrets of a handshake: told by OpenSSL for our records, and left by it in memory that it frees.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "transport/tcp/tls_hkdf.hpp"

struct ssl_st;

namespace ham::inline v1::transport::tcp {

/// Wiped when it goes.
class handshake_secrets {
 public:
  enum which : std::uint8_t { client_handshake, server_handshake, client_traffic, server_traffic, exporter, count };

  handshake_secrets() = default;
  ~handshake_secrets() { wipe(); }
  handshake_secrets(const handshake_secrets&) = delete;
  handshake_secrets& operator=(const handshake_secrets&) = delete;

  /// Takes the secret out of a line "LABEL RANDOM SECRET", as OpenSSL tells it to whoever asks for a log of keys.
  void learn(std::string_view line) noexcept;
  /// The one that follows it after a key update takes its place.
  void advance(which one) noexcept;
  [[nodiscard]] bool knows(which one) const noexcept { return known_[one]; }
  [[nodiscard]] const hash_secret& operator[](which one) const noexcept { return all_[one]; }

  /// Overwrites in the memory of `ssl` the pre-shared key and the secret that is made of it alone. The handshake is
  /// over: OpenSSL needs neither. Does nothing if somebody has replaced OpenSSL's allocator.
  static void wipe_key_in(ssl_st* ssl, const secret_key& key) noexcept;
  /// Before SSL_free, which wipes nothing: overwrites there what was learned, and the secrets from which it can be
  /// derived. Likewise.
  void wipe_in(ssl_st* ssl) const noexcept;
  /// The same in any memory.
  static void wipe_key_in_memory(std::span<unsigned char> where, const secret_key& key) noexcept;
  void wipe_in_memory(std::span<unsigned char> where) const noexcept;
  void wipe() noexcept;

 private:
  std::array<hash_secret, count> all_{};
  std::array<bool, count> known_{};
};

}  // namespace ham::transport::tcp
