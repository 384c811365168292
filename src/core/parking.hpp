// Where threads of a node wait while another one of them makes progress.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/heavy_fence.hpp"

namespace ham::inline v1::detail {

/// Any thread. Who makes progress pays a load; who waits pays a membarrier.
class parking {
 public:
  /// Sleeps until `done()` is true and somebody has called wake_finished() since, until wake_all(), or until the time
  /// has come. Returns at once if `done()` is true already. Other threads call `done` as well while this one sleeps.
  void wait(const std::function<bool()>& done, std::int64_t until_ns);

  /// For who has just made progress: somebody waits, call wake_finished().
  [[nodiscard]] bool occupied() const noexcept {
    if (!fenced_) [[likely]]
      base::light_fence();  // of what was done before; wait() forces the order
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
    return waiting_.load(std::memory_order_relaxed) != 0;
  }
  /// From now on it counts as occupied for ever: by somebody who is told by other means.
  void occupy() noexcept {
    waiting_.fetch_add(1, std::memory_order_seq_cst);
    base::heavy_fence_private();
  }
  /// Wakes those whose `done()` is true.
  void wake_finished() noexcept;
  /// Wakes all: one of them has to make progress now.
  void wake_all() noexcept;

 private:
  struct sleeper {
    const std::function<bool()>* done;
    std::condition_variable news;
    sleeper* next = nullptr;
  };

  std::atomic<int> waiting_{0};
  std::mutex mutex_;
  sleeper* first_ = nullptr;  // guarded by mutex_
  const bool fenced_ = !base::register_heavy_fence();
};

}  // namespace ham::detail
