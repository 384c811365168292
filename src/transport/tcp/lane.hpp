// A connection for bulk data: blocking, used by one thread at a time.
#pragma once

#include <cstddef>
#include <span>

#include "transport/tcp/handshake.hpp"

namespace ham::transport::tcp {

class lane {
 public:
  explicit lane(connection with);

  /// Both at once, in that order. False: the lane is dead.
  [[nodiscard]] bool send(std::span<const std::byte> first, std::span<const std::byte> second = {}) noexcept;
  /// All of `into`. False: the lane is dead.
  [[nodiscard]] bool receive(std::span<std::byte> into) noexcept;
  /// Ends what others are doing with it. Any thread.
  void cut() const noexcept;

 private:
  [[nodiscard]] bool send_plain(std::span<const std::byte> first, std::span<const std::byte> second) noexcept;

  connection connected_;
};

}  // namespace ham::transport::tcp
