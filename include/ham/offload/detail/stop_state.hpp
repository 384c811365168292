// Whether a running call was stopped, as its token asks. Internal.
#pragma once

#include <atomic>
#include <cstdint>

namespace ham::inline v0::detail {

/// Lives as long as the call, and as tokens of it.
class stop_state {
 public:
  stop_state(const stop_state&) = delete;
  stop_state& operator=(const stop_state&) = delete;

  /// Any thread. With a word in shared memory this is three loads and a store as long as nothing was stopped.
  [[nodiscard]] bool requested() noexcept {
    if (requested_.load(std::memory_order_acquire)) return true;
    const std::atomic<std::uint64_t>* const word = word_.load(std::memory_order_acquire);
    if (word != nullptr && word->load(std::memory_order_acquire) == 0) [[likely]] {
      // Another stop may have taken the word, and freed it since: then only a frame tells.
      const std::uint32_t asked = asked_.load(std::memory_order_relaxed) + 1;
      asked_.store(asked, std::memory_order_relaxed);
      if (asked % polls_per_look != 0) return false;
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

  static constexpr std::uint32_t polls_per_look = 32;
  std::atomic<bool> requested_{false};
  std::atomic<std::uint32_t> asked_{0};
  std::atomic<const std::atomic<std::uint64_t>*> word_{nullptr};
  const std::int64_t deadline_ns_;
};

}  // namespace ham::detail
