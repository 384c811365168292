// A stream over which lies TLS.
#pragma once

#include <memory>

#include "transport/tcp/byte_stream.hpp"
#include "transport/tcp/tls_session.hpp"

namespace ham::inline v1::transport::tcp {

class tls_stream final : public byte_stream {
 public:
  tls_stream(base::unique_fd socket, std::shared_ptr<const tls_context> tls);

  [[nodiscard]] outcome establish() override;
  [[nodiscard]] outcome receive(std::span<std::byte> into) override;
  [[nodiscard]] bool has_input() const noexcept override { return failed_ || session_->has_input(); }
  [[nodiscard]] outcome send(std::span<const std::byte> bytes) override;
  [[nodiscard]] outcome flush() override;
  [[nodiscard]] std::size_t unsent() const noexcept override;
  void end() noexcept override;
  void wipe_received() noexcept override { session_->wipe_read(); }
  [[nodiscard]] std::string failure() const override { return session_->failure(); }
  [[nodiscard]] std::unique_ptr<blocking_stream> make_blocking() override;
  void close() noexcept override;

 private:
  outcome receive_records(std::size_t max_bytes);
  /// Opens what is here: how much of `into` it fills.
  std::size_t open(std::span<std::byte> into);

  std::unique_ptr<tls_session> session_;  // nullptr: closed, or handed on
  std::size_t flushed_ = 0;               // of the session's output
  bool failed_ = false;                   // to open what was received
};

class blocking_tls_stream final : public blocking_stream {
 public:
  blocking_tls_stream(base::unique_fd socket, std::unique_ptr<tls_session> session);

  [[nodiscard]] bool send(std::span<const std::byte> first, std::span<const std::byte> second, rest of_them) override;
  [[nodiscard]] long receive(std::span<std::byte> into) override { return session_->read(into); }
  void end() override { session_->end(); }

 private:
  std::unique_ptr<tls_session> session_;
};

}  // namespace ham::transport::tcp
