// HAM's own records: encrypted from the caller's memory to the wire's buffer, and decrypted back, without a copy.
#pragma once

#include "transport/tcp/tls_record_layer.hpp"
#include "transport/tcp/tls_records.hpp"

namespace ham::inline v1::transport::tcp {

class tls_own_records final : public tls_record_layer {
 public:
  /// `record_limit`: of each key.
  tls_own_records(tls_wire& wire, std::uint64_t record_limit)
      : tls_record_layer(wire), sealing_(record_limit), opening_(record_limit) {}

  /// Begins with the traffic secrets of the handshake. False: OpenSSL cannot.
  [[nodiscard]] bool begin(const hash_secret& mine, const hash_secret& theirs) {
    return sealing_.begin(mine) && opening_.begin(theirs);
  }
  [[nodiscard]] bool write(std::span<const std::byte> plain) override;
  [[nodiscard]] bool renew() override;
  void end() override;

 private:
  long open_one(std::span<std::byte> record, std::span<std::byte> into) override;
  long hand_out(std::span<std::byte> into) noexcept override;
  long refuse_head(record_head::status what) override;

  [[nodiscard]] std::byte* place(std::size_t content);
  [[nodiscard]] bool put(std::span<const std::byte> content, content_type type);
  [[nodiscard]] long control(std::span<const std::byte> content, content_type type);
  [[nodiscard]] long follow_update(std::span<const std::byte> message);

  record_keys sealing_;
  record_keys opening_;
  std::atomic<bool> update_due_{false};  // the peer wants new keys of ours
  bool said_ = false;                    // the last word was said: nothing is written any more
};

}  // namespace ham::transport::tcp
