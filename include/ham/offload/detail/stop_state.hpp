// Whether a running call was stopped, as its token asks. Internal.
#pragma once

#include <atomic>
#include <cstdint>

namespace ham::inline v1::detail {

/// Lives as long as the call, and as tokens of it.
class stop_state {
 public:
  stop_state(const stop_state&) = delete;
  stop_state& operator=(const stop_state&) = delete;

  /// Any thread. As long as nothing was stopped, in a tight loop this is five loads and a store most times.
  [[nodiscard]] bool requested() noexcept {
    if (requested_.load(std::memory_order_acquire)) return true;
    const std::atomic<std::uint64_t>* const word = word_.load(std::memory_order_acquire);
    if (word == nullptr || word->load(std::memory_order_acquire) == 0) [[likely]] {
      // Another stop may have taken the word, and freed it since, or there is none: then only a frame tells.
      const std::uint32_t asked = asked_.load(std::memory_order_relaxed) + 1;
      asked_.store(asked, std::memory_order_relaxed);
      if ((asked & unasked_.load(std::memory_order_relaxed)) != 0) return false;
    }
    return poll();
  }
  /// On std::chrono::steady_clock; INT64_MAX: none.
  [[nodiscard]] std::int64_t deadline_ns() const noexcept { return deadline_ns_; }

 protected:
  explicit stop_state(std::int64_t deadline_ns) noexcept : deadline_ns_(deadline_ns) {}
  ~stop_state() = default;
  /// What the word does not tell.
  [[nodiscard]] bool poll() noexcept;

  std::atomic<bool> requested_{false};
  std::atomic<std::uint32_t> asked_{0};
  std::atomic<std::uint32_t> unasked_{0};  ///< 2^n - 1: one of so many polls and one goes further
  std::atomic<const std::atomic<std::uint64_t>*> word_{nullptr};
  const std::int64_t deadline_ns_;
};

}  // namespace ham::detail
