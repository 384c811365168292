// A connection for bulk data: blocking, used by one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "transport/tcp/handshake.hpp"

namespace ham::inline v1::transport::tcp {

class lane {
 public:
  explicit lane(connection with);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Both at once, in that order. False: the lane is dead.
  [[nodiscard]] bool send(std::span<const std::byte> first, std::span<const std::byte> second = {}) noexcept;
  /// Some of what is to be sent: what does not fill a packet waits for more of it. A send() of something comes
  /// behind the last part.
  [[nodiscard]] bool send_part(std::span<const std::byte> part) noexcept;
  /// All of `into`. False: the lane is dead.
  [[nodiscard]] bool receive(std::span<std::byte> into) noexcept;
  /// Tells the peer that nothing more comes, and why if something was wrong. For whoever uses it.
  void end() noexcept;
  /// Ends what others are doing with it. Any thread.
  void cut() const noexcept;
  /// Nobody serves it any more.
  [[nodiscard]] bool over() const noexcept { return over_.load(); }
  void mark_over() noexcept { over_.store(true); }

 private:
  [[nodiscard]] bool send(std::span<const std::byte> first, std::span<const std::byte> second,
                          blocking_stream::rest rest) noexcept;

  std::unique_ptr<blocking_stream> bytes_;
  std::atomic<bool> over_{false};
};

}  // namespace ham::transport::tcp
