// The floors of encryption: OpenSSL's AES-256-GCM on its own and over a bare socket, and its TLS 1.3. Optional.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace ham::inline v1::bench {

/// Whether this program was built with OpenSSL; if not, all the rest throws std::logic_error.
[[nodiscard]] bool cipher_available() noexcept;

/// Nanoseconds that OpenSSL takes to encrypt `data` with AES-256-GCM in pieces of 16 KiB, the size of a TLS record.
[[nodiscard]] double aes_256_gcm_ns(std::span<const std::byte> data);

/// What any encrypted transfer has to do, and nothing else: one side encrypts pieces of about 16 KiB and sends four
/// of them at a time, the other receives and decrypts them, both at once. The key is fixed, heads and lengths do not
/// travel.
class sealed_stream {
 public:
  /// `socket` blocks.
  explicit sealed_stream(int socket) : socket_(socket) {}

  void send(std::span<const std::byte> data) const;
  void receive(std::span<std::byte> into) const;

 private:
  int socket_;
};

/// TLS 1.3 with AES-256-GCM and a fixed key on a blocking socket, by nothing but SSL_write and SSL_read.
class tls_stream {
 public:
  enum class side { client, server };

  /// Shakes hands. Throws std::runtime_error.
  tls_stream(int socket, side which);
  ~tls_stream();
  tls_stream(const tls_stream&) = delete;
  tls_stream& operator=(const tls_stream&) = delete;

  void send(std::span<const std::byte> data) const;
  void receive(std::span<std::byte> into) const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace ham::bench
