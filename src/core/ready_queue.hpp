// Continuations whose calls have settled, in the order in which they settled.
#pragma once

#include <atomic>

#include "base/biased_lock.hpp"
#include "base/renew.hpp"
#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

/// All members may be called from any thread. Who pushes sees to it that what it pushed is run; others may come first.
class ready_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_.load(std::memory_order_relaxed) == nullptr; }

  /// Appends a chain of continuations.
  void push(continuation* chain) noexcept {
    continuation* last = chain;
    while (last->next != nullptr) last = last->next;
    lock_.lock();
    if (first_.load(std::memory_order_relaxed) == nullptr)
      first_.store(chain, std::memory_order_relaxed);
    else
      last_->next = chain;
    last_ = last;
    lock_.unlock();
  }

  /// The oldest one, or nullptr.
  [[nodiscard]] continuation* pop() noexcept {
    lock_.lock();
    continuation* const oldest = first_.load(std::memory_order_relaxed);
    if (oldest != nullptr) {
      first_.store(oldest->next, std::memory_order_relaxed);
      oldest->next = nullptr;
    }
    lock_.unlock();
    return oldest;
  }

  /// In a child after fork: whoever held the lock is not there, and what waits here is the parent's to run.
  void renew() noexcept {
    base::renew(lock_);
    first_.store(nullptr, std::memory_order_relaxed);
  }

 private:
  base::biased_lock lock_;
  std::atomic<continuation*> first_{nullptr};
  continuation* last_ = nullptr;
};

}  // namespace ham::detail
