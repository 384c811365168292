// What a node knows of pings to and from one peer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::detail {

/// All members may be called from any thread, unless said otherwise.
class ping_credit {
 public:
  static constexpr std::uint32_t pings_between_polls = 256;
  static constexpr std::size_t bytes_between_polls = 1U << 20;

  /// The peer has said whether it has too much to do.
  void hold(bool on) noexcept { held_.store(on, std::memory_order_release); }
  [[nodiscard]] bool held() const noexcept { return held_.load(std::memory_order_acquire); }

  /// A ping of `size` bytes wants to leave. False: its thread polls first. Who only sends never polls as long as there
  /// is room, and must hear all the same that it shall stop. The sending lock is held.
  [[nodiscard]] bool spend(std::size_t size) noexcept {
    const std::uint32_t sent = since_poll_.load(std::memory_order_relaxed) + 1 +
                               static_cast<std::uint32_t>(size / (bytes_between_polls / pings_between_polls));
    since_poll_.store(sent, std::memory_order_relaxed);
    return sent < pings_between_polls;
  }
  /// A thread that sends pings polls now.
  void renew() noexcept { since_poll_.store(0, std::memory_order_relaxed); }

 private:
  friend class ping_flow;

  std::atomic<bool> held_{false};
  std::atomic<std::uint32_t> since_poll_{0};  ///< roughly
  bool slowed_ = false;                       ///< it was told to hold its pings; under ping_flow::mutex_
};

}  // namespace ham::detail
