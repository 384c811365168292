// Whether a process of another library can be used, and that nobody does while it is destroyed.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace ham::inline v1::transport {

/// Any thread.
class reachability {
 public:
  [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }

  /// Does `work` unless it is lost; work that gives false loses it.
  template <class Work>
  void use(Work work) noexcept {
    std::shared_lock guard(in_use_);
    if (!lost() && !work()) lost_.store(true, std::memory_order_release);
  }
  /// Nobody uses it any more when this returns.
  void end() noexcept {
    std::lock_guard guard(in_use_);
    lost_.store(true, std::memory_order_release);
  }

 private:
  std::shared_mutex in_use_;
  std::atomic<bool> lost_{false};
};

}  // namespace ham::transport
