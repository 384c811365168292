// OpenSSL's records, for who trusts no others: SSL_write and SSL_read in place of HAM's own.
#pragma once

#include <mutex>
#include <vector>

#include "transport/tcp/tls_record_layer.hpp"
#include "transport/tcp/tls_secrets.hpp"
#include "transport/tcp/tls_session.hpp"

namespace ham::inline v1::transport::tcp {

/// OpenSSL's object may be used by one thread at a time, so it has a lock, which nobody holds while a socket is used.
class tls_openssl_records final : public tls_record_layer {
 public:
  /// `ssl` has shaken hands over a BIO of `wire`, and outlives this; so do `secrets`, which keep up with new keys.
  tls_openssl_records(tls_wire& wire, ssl_st* ssl, tls_role role, handshake_secrets& secrets,
                      std::uint64_t record_limit);
  ~tls_openssl_records() override;

  [[nodiscard]] bool write(std::span<const std::byte> plain) override;
  [[nodiscard]] bool renew() override;
  void end() override;

 private:
  long open_one(std::span<std::byte> record, std::span<std::byte> into) override;
  long hand_out(std::span<std::byte> into) override;
  long refuse_head(record_head::status what) override;

  /// What OpenSSL reports of messages in either direction.
  static void on_message(int written, int version, int type, const void* message, std::size_t size, ssl_st* ssl,
                         void* self);
  [[nodiscard]] bool update_keys();
  [[nodiscard]] long fail_by_openssl(int result);
  void take_output();
  [[nodiscard]] bool pass_on();

  ssl_st* ssl_;
  const tls_role role_;
  handshake_secrets& secrets_;
  const std::uint64_t limit_;

  std::mutex mutex_;  // of OpenSSL's object, and of what follows
  std::uint64_t written_ = 0;
  std::uint64_t received_ = 0;
  bool foreign_message_ = false;  // one that does not belong behind a handshake came
  bool broken_ = false;           // OpenSSL has said an alert of its own

  std::vector<std::byte> output_;  // of OpenSSL, on its way to the wire; the writer's
  bool said_ = false;
};

}  // namespace ham::transport::tcp
