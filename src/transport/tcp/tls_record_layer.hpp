// Protection of what follows the handshake: by HAM's records or by OpenSSL's (docs/decisions/0007-tls-records.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "transport/tcp/tls_alert.hpp"
#include "transport/tcp/tls_carrier.hpp"

namespace ham::inline v1::transport::tcp {

/// The bytes below a session: buffers that somebody else empties and fills, or a socket of its own.
struct tls_wire {
  carrier bytes;
  stream own;

  /// How much of `content` the next record takes; 0: the connection broke.
  [[nodiscard]] std::size_t next_piece(std::size_t content);
};

/// Both directions of a session. One thread may read while another one writes.
class tls_record_layer {
 public:
  explicit tls_record_layer(tls_wire& wire) noexcept : wire_(wire) {}
  virtual ~tls_record_layer() = default;
  tls_record_layer(const tls_record_layer&) = delete;
  tls_record_layer& operator=(const tls_record_layer&) = delete;

  // As the functions of tls_session of these names.
  [[nodiscard]] virtual bool write(std::span<const std::byte> plain) = 0;
  [[nodiscard]] virtual bool renew() = 0;
  virtual void end() = 0;
  [[nodiscard]] long read(std::span<std::byte> into);
  [[nodiscard]] bool has_input() noexcept;
  [[nodiscard]] bool ended() const noexcept { return peer_ended_; }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 protected:
  /// Opens the whole record that waits: number of bytes in `into`, 0: none of them, negative: failed. What does not fit
  /// stays in `opened_`.
  [[nodiscard]] virtual long open_one(std::span<std::byte> record, std::span<std::byte> into) = 0;
  /// Some of what is opened. Negative: failed.
  [[nodiscard]] virtual long hand_out(std::span<std::byte> into) = 0;
  /// What waits begins with no record that could come: fails.
  virtual long refuse_head(record_head::status what) = 0;

  /// `told`: what the peer shall hear of it.
  long fail(std::string why, tls_alert told);
  /// After each record. Negative: too many without data in a row.
  [[nodiscard]] long count_record(bool with_data);

  tls_wire& wire_;
  std::size_t opened_ = 0;                                     // bytes that were opened and not read
  bool peer_ended_ = false;                                    // in order
  std::atomic<tls_alert> last_word_{tls_alert::close_notify};  // what to say at the end

 private:
  std::string failure_;
  unsigned without_data_ = 0;  // records in a row
};

}  // namespace ham::transport::tcp
