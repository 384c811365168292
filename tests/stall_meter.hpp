// Time that a machine without a core for this process took away from it.
#pragma once

#include <chrono>
#include <mutex>
#include <stop_token>
#include <thread>

namespace ham::inline v1::test {

/// How long a thread of this process was kept waiting for a core. Who does not count that as part of a wait sets a
/// limit to it, too: what is tested may have taken the cores.
class stall_meter {
 public:
  /// Also of a stall that this thread has noticed before the meter's own.
  [[nodiscard]] std::chrono::milliseconds so_far() const {
    std::lock_guard guard(mutex_);
    return stalled_ + late(std::chrono::steady_clock::now());
  }

 private:
  static constexpr std::chrono::milliseconds nap{10};

  [[nodiscard]] std::chrono::milliseconds late(std::chrono::steady_clock::time_point now) const {
    const auto by = std::chrono::duration_cast<std::chrono::milliseconds>(now - before_) - nap;
    return by > std::chrono::milliseconds(100) ? by : std::chrono::milliseconds(0);
  }
  void measure(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(nap);
      std::lock_guard guard(mutex_);
      const auto now = std::chrono::steady_clock::now();
      stalled_ += late(now);
      before_ = now;
    }
  }

  mutable std::mutex mutex_;
  std::chrono::milliseconds stalled_{0};
  std::chrono::steady_clock::time_point before_ = std::chrono::steady_clock::now();
  std::jthread measures_{[this](const std::stop_token& stop) { measure(stop); }};
};

}  // namespace ham::test
