// TLS 1.3 with a pre-shared key over any carrier of bytes. Absent from builds without OpenSSL.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/network.hpp"

struct ssl_st;

namespace ham::inline v1::transport::tcp {

enum class tls_role : std::uint8_t { client, server };

/// Whose key it is; said in the clear, so it must tell nothing else.
inline constexpr const char* invite_identity = "ham-server-1";
inline constexpr const char* job_identity = "ham-job-1";

/// Why sessions cannot be made; empty: they can.
[[nodiscard]] std::string why_no_tls();
/// What makes them, with its version; empty: nothing can.
[[nodiscard]] std::string tls_libraries(tls_records records);

/// Why no context is made with this version of OpenSSL while SSLKEYLOGFILE says `file`; empty: it does no harm.
[[nodiscard]] std::string why_log_refused(unsigned long openssl_version, const char* file);

/// What the sessions of one key have in common. Thread-safe.
class tls_context {
 public:
  /// `records`: of whom, behind the handshake. Throws ham::config_error.
  tls_context(tls_role role, const secret_key& key, const char* identity, tls_records records = tls_records::ham);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

 private:
  friend class tls_session;
  struct parts;
  std::unique_ptr<parts> parts_;
};

class tls_session {
 public:
  enum class status : std::uint8_t { done, want_input, failed };

  static constexpr std::uint64_t usual_record_limit = std::uint64_t{1} << 24;

  /// `record_limit`: how many records are written with one key, and taken from a peer that announces no new one.
  explicit tls_session(std::shared_ptr<const tls_context> context, std::uint64_t record_limit = usual_record_limit);
  ~tls_session();
  tls_session(const tls_session&) = delete;
  tls_session& operator=(const tls_session&) = delete;

  /// Goes on with the handshake. What it has to say is appended to output().
  [[nodiscard]] status shake_hands();
  /// Encrypts all of `plain`; ciphertext is appended to output(), or sent if a socket is attached: some of it maybe not
  /// before send_rest(). False: failed.
  [[nodiscard]] bool write(std::span<const std::byte> plain);
  [[nodiscard]] bool send_rest();
  /// Ends what is written: says close_notify, or the alert that read() has failed with. It is appended to output(), or
  /// sent as far as the socket takes it at once. Nothing can be written after it.
  void end();
  /// read() failed because the peer has ended what it writes, in order as far as TLS is concerned.
  [[nodiscard]] bool ended() const noexcept;
  /// What follows is written with new keys. By itself write() does so often enough.
  [[nodiscard]] bool renew();
  /// Decrypts: number of bytes, 0: more input is needed, negative: failed or ended, and what is in `into` then is
  /// undefined. One thread may read while another one writes.
  [[nodiscard]] long read(std::span<std::byte> into);

  /// Overwrites what read() has given out where a copy of it is still here.
  void wipe_read() noexcept;

  /// Where received ciphertext goes, at least `least` bytes; then feed() says how much it was.
  [[nodiscard]] std::span<std::byte> input_room(std::size_t least);
  void feed(std::size_t bytes) noexcept;
  /// Whether read() may give more without further input.
  [[nodiscard]] bool has_input() const noexcept;
  [[nodiscard]] std::vector<std::byte>& output() noexcept;

  /// From now on read() and write() use this blocking socket themselves.
  void attach(int socket);
  /// What went wrong, for people.
  [[nodiscard]] std::string failure() const;

 private:
  friend class tls_context;
  /// OpenSSL tells a secret of the handshake.
  static void learn(const ssl_st* ssl, const char* line);

  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace ham::transport::tcp
