// Bytes as they are.
#pragma once

#include "transport/tcp/byte_stream.hpp"
#include "transport/tcp/patient_socket.hpp"

namespace ham::inline v1::transport::tcp {

class plain_stream final : public byte_stream {
 public:
  using byte_stream::byte_stream;

  [[nodiscard]] outcome receive(std::span<std::byte> into) override { return receive_from_socket(into); }
  [[nodiscard]] outcome send(std::span<const std::byte> bytes) override { return send_to_socket(bytes); }
  [[nodiscard]] std::unique_ptr<blocking_stream> make_blocking() override;
};

/// Straight from and to the caller's memory, in full packets.
class blocking_plain_stream final : public blocking_stream {
 public:
  explicit blocking_plain_stream(base::unique_fd socket);

  [[nodiscard]] bool send(std::span<const std::byte> first, std::span<const std::byte> second, rest of_them) override;
  [[nodiscard]] long receive(std::span<std::byte> into) override;

 private:
  patient_socket patient_;
  std::size_t waiting_ = 0;  // of what was sent in parts: behind the last full packet
};

}  // namespace ham::transport::tcp
