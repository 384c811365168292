// The floors of tcp: a second process at the other end of a bare loopback connection.
#pragma once

#include "timing.hpp"

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ham::inline v1::bench {

/// First argument of the process at the other end; main() passes such a call on to run_socket_partner().
inline constexpr std::string_view socket_partner_argument = "socket-partner";

/// A process that sleeps in recv() except during a measurement of its own.
class socket_partner {
 public:
  /// Starts it on any of `cores`. Throws std::system_error.
  explicit socket_partner(const std::vector<int>& cores);
  ~socket_partner();
  socket_partner(const socket_partner&) = delete;
  socket_partner& operator=(const socket_partner&) = delete;

  /// One operation: `bytes` there with one send, as many back with one send; both sides spin on recv.
  [[nodiscard]] block_times ping_pong(std::size_t bytes, const block_plan& plan);

  /// Nanoseconds until the partner has received `data` into memory of its own and said so. Plain blocking calls.
  [[nodiscard]] double stream_ns(std::span<const std::byte> data);

  /// The same, encrypted while it is sent and decrypted while it is received. Only if cipher_available().
  [[nodiscard]] double sealed_stream_ns(std::span<const std::byte> data);

  /// The same through TLS as OpenSSL does it (SSL_write and SSL_read on the socket). Only if cipher_available().
  [[nodiscard]] double tls_stream_ns(std::span<const std::byte> data);

 private:
  int socket_ = -1;
  pid_t pid_ = -1;
};

/// Main program of the partner. `argv` = {program, "socket-partner", core...}; the connection is descriptor 3.
int run_socket_partner(int argc, char** argv);

}  // namespace ham::bench
