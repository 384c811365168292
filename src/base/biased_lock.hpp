// A lock that costs two plain stores while only one thread ever takes it, and is a spin lock afterwards.
#pragma once

#include <atomic>

#include "base/backoff.hpp"
#include "base/heavy_fence.hpp"
#include "base/thread_identity.hpp"

namespace ham::inline v1::base {

/// Mutual exclusion for very short sections. The first thread that takes it owns the bias: no atomic
/// read-modify-write on its path. The first other thread revokes the bias for good with one membarrier.
/// Not recursive; a thread that holds it must not block in the kernel for long.
class biased_lock {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    if (owner_.load(std::memory_order_relaxed) == thread_identity() && !revoked_.load(std::memory_order_relaxed))
        [[likely]] {
      if (busy_.load(std::memory_order_relaxed) != 0) [[unlikely]]
        return false;
      busy_.store(1, std::memory_order_relaxed);
      if (!fenced_) [[likely]]
        light_fence();
      else
        std::atomic_thread_fence(std::memory_order_seq_cst);
      if (!revoked_.load(std::memory_order_relaxed)) [[likely]] {
        std::atomic_thread_fence(std::memory_order_acquire);
        return true;
      }
      busy_.store(0, std::memory_order_release);
    }
    return try_lock_shared_mode();
  }

  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait();
  }

  void unlock() noexcept {
    if (spin_held_) [[unlikely]] {
      spin_held_ = false;
      spin_.store(0, std::memory_order_release);
    } else {
      busy_.store(0, std::memory_order_release);
    }
  }

 private:
  [[gnu::noinline]] void wait() noexcept {
    for (backoff<backoff_schedule{.spins = 200}> pause; !try_lock();) pause.wait();
  }

  [[gnu::noinline]] bool try_lock_shared_mode() noexcept {
    if (spin_.load(std::memory_order_relaxed) != 0) return false;  // who only reads leaves the line to the holder
    if (spin_.exchange(1, std::memory_order_acquire) != 0) return false;
    if (!revoked_.load(std::memory_order_relaxed)) {
      const void* nobody = nullptr;
      if (owner_.compare_exchange_strong(nobody, thread_identity(), std::memory_order_relaxed)) {
        busy_.store(1, std::memory_order_relaxed);  // others see it once they have the spin word
        spin_.store(0, std::memory_order_release);
        return true;
      } else if (nobody != thread_identity()) {
        revoked_.store(true, std::memory_order_relaxed);
        heavy_fence_private();
      }
    }
    if (busy_.load(std::memory_order_acquire) != 0) {  // the owner is still inside from before the revocation
      spin_.store(0, std::memory_order_release);
      return false;
    }
    spin_held_ = true;
    return true;
  }

  std::atomic<const void*> owner_{nullptr};
  std::atomic<bool> revoked_{false};
  std::atomic<unsigned char> busy_{0};
  std::atomic<unsigned char> spin_{0};
  bool spin_held_ = false;  // guarded by the lock itself
  const bool fenced_ = !register_heavy_fence();
};

}  // namespace ham::base
