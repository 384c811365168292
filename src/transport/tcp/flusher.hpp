// A thread that sees to it that what was gathered leaves soon, also if nobody calls the library again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace ham::inline v1::transport::tcp {

/// Sleeps while there is nothing to do; schedule_ack() costs a load while it is awake.
class flusher {
 public:
  /// What one round found.
  enum class found : std::uint8_t { nothing, something_owed, bytes_waiting };
  using round = std::function<found(bool long_round)>;

  ~flusher() { stop(); }
  /// `work` is called every 50 us while bytes wait, and with true every 2 ms while anything is owed.
  void start(round work);
  void stop() noexcept;
  /// Bytes wait.
  void schedule_flush() noexcept {
    if (rest_.load() != awake) [[unlikely]]
      wake();
  }
  /// Something will be owed.
  void schedule_ack() noexcept {
    if (rest_.load() == asleep) [[unlikely]]
      wake();
  }

 private:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t napping = 1;
  static constexpr std::uint32_t asleep = 2;

  void run();
  void wake() noexcept;
  void lie_down(std::uint32_t how) noexcept;

  round work_;
  std::atomic<std::uint32_t> rest_{awake};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ham::transport::tcp
