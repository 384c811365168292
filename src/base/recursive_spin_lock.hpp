// A spin lock whose holder may take it again.
#pragma once

#include <atomic>

#include "base/backoff.hpp"
#include "base/thread_identity.hpp"

namespace ham::inline v1::base {

/// Mutual exclusion for very short sections of threads that come rarely together. Taking and giving it back costs one
/// atomic exchange. All members may be called from any thread.
class recursive_spin_lock {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    const void* const me = thread_identity();
    const void* holder = holder_.load(std::memory_order_relaxed);
    if (holder == me) {
      ++again_;
      return true;
    }
    // Ordered with what is stored before, so that it also serves as the announcement that something is in use.
    return holder == nullptr && holder_.compare_exchange_strong(holder, me, std::memory_order_seq_cst);
  }
  void lock() noexcept {
    for (backoff<backoff_schedule{.spins = 200}> pause; !try_lock();) pause.wait();
  }
  /// The caller holds it.
  void unlock() noexcept {
    if (again_ != 0)
      --again_;
    else
      holder_.store(nullptr, std::memory_order_release);
  }
  [[nodiscard]] bool held_by_me() const noexcept {
    return holder_.load(std::memory_order_relaxed) == thread_identity();
  }
  /// Whether anybody holds it.
  [[nodiscard]] bool held() const noexcept { return holder_.load(std::memory_order_seq_cst) != nullptr; }

 private:
  std::atomic<const void*> holder_{nullptr};
  unsigned again_ = 0;  ///< how often its holder has taken it beyond the first time
};

}  // namespace ham::base
