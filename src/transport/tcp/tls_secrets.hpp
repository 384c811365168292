// The secrets of a handshake: told by OpenSSL for our records, and left by it in memory that it frees.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "transport/tcp/tls_hkdf.hpp"

struct ssl_st;

namespace ham::transport::tcp {

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
  [[nodiscard]] bool knows(which one) const noexcept { return known_[one]; }
  [[nodiscard]] const hash_secret& operator[](which one) const noexcept { return all_[one]; }

  /// Before SSL_free, which wipes nothing: overwrites in the memory of `ssl` what was learned, and the secrets from
  /// which it can be derived, the ones of the handshake with this pre-shared key. Does nothing if somebody has replaced
  /// OpenSSL's allocator.
  void wipe_in(ssl_st* ssl, const secret_key& key) const noexcept;
  /// The same in any memory.
  void wipe_in_memory(std::span<unsigned char> where, const secret_key& key) const noexcept;
  void wipe() noexcept;

 private:
  std::array<hash_secret, count> all_{};
  std::array<bool, count> known_{};
};

}  // namespace ham::transport::tcp
