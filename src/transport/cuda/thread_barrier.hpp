// A barrier of threads that stand for those of a device, which ends for all of them when the device fails.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/backoff.hpp"

namespace ham::inline v1::transport::cuda {

/// Thrown where a thread of a device that has failed would have to wait for another one: the thread ends.
struct device_ended {};

class thread_barrier {
 public:
  explicit thread_barrier(std::uint32_t threads) noexcept : threads_(threads) {}

  /// Waits until all threads are here. Throws device_ended as soon as `ended` is set.
  void wait(const std::atomic<bool>& ended) {
    const std::uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      return;
    }
    base::backoff<base::backoff_schedule{.yields = 100, .sleep_ns = 20'000, .max_sleep_ns = 200'000}> pause;
    while (phase_.load(std::memory_order_acquire) == phase) {
      if (ended.load(std::memory_order_acquire)) throw device_ended{};
      pause.wait();
    }
  }

 private:
  const std::uint32_t threads_;
  std::atomic<std::uint32_t> arrived_{0};
  std::atomic<std::uint32_t> phase_{0};
};

}  // namespace ham::transport::cuda
