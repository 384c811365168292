// Deadlines of calls, by time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/renew.hpp"

namespace ham::inline v1::detail {

/// Any thread. A call that has settled stays for a while.
class deadline_queue {
 public:
  /// When something is due next, or before. Who goes to sleep asks after it has announced that, so that add() wakes it.
  [[nodiscard]] std::int64_t next_ns() const noexcept { return next_.load(std::memory_order_seq_cst); }

  /// True: it is due before all others, so whoever sleeps until next_ns() must be woken. Without memory the call is not
  /// listed, and unlisted_due() says so when its time has come. `is_over(call)` says which calls have settled; asked
  /// about as many calls as were added since the last time.
  template <class IsOver>
  bool add(std::uint32_t call, std::int64_t deadline_ns, IsOver is_over) noexcept {
    std::lock_guard guard(mutex_);
    if (heap_.size() >= max_listed_) forget(is_over);
    try {
      heap_.emplace_back(deadline_ns, call);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } catch (const std::bad_alloc&) {
      unlisted_ns_ = std::min(unlisted_ns_, deadline_ns);
    }
    const std::int64_t next = earliest();
    const bool sooner = next < next_.load();
    next_.store(next);
    return sooner;
  }
  /// Takes out a call whose time has come.
  [[nodiscard]] std::optional<std::uint32_t> pop_due(std::int64_t now_ns) noexcept {
    std::lock_guard guard(mutex_);
    if (heap_.empty() || heap_.front().first > now_ns) {
      next_.store(earliest());
      return std::nullopt;
    }
    const std::uint32_t call = heap_.front().second;
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    return call;
  }
  /// Whether the time of a call has come that is not listed: the caller checks all calls and sets the time when
  /// the next one of them is due.
  [[nodiscard]] bool unlisted_due(std::int64_t now_ns) noexcept {
    std::lock_guard guard(mutex_);
    if (now_ns < unlisted_ns_) return false;
    unlisted_ns_ = base::never_ns;
    return true;
  }
  void set_unlisted(std::int64_t next_ns) noexcept {
    std::lock_guard guard(mutex_);
    unlisted_ns_ = std::min(unlisted_ns_, next_ns);
  }

  [[nodiscard]] std::size_t listed() const {
    std::lock_guard guard(mutex_);
    return heap_.size();
  }
  /// In a child after fork: nothing is due.
  void detach_after_fork() noexcept {
    base::renew(mutex_);
    next_.store(base::never_ns);
  }

 private:
  static constexpr std::size_t min_listed = 64;

  [[nodiscard]] std::int64_t earliest() const noexcept {
    return heap_.empty() ? unlisted_ns_ : std::min(heap_.front().first, unlisted_ns_);
  }
  template <class IsOver>
  void forget(IsOver is_over) noexcept {
    std::erase_if(heap_, [&](const auto& one) { return is_over(one.second); });
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    max_listed_ = std::max(min_listed, 2 * heap_.size());
  }

  mutable std::mutex mutex_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> heap_;
  std::size_t max_listed_ = min_listed;        ///< that many, and the settled ones are dropped
  std::int64_t unlisted_ns_ = base::never_ns;  ///< of those that are not in the heap for want of memory, or earlier
  std::atomic<std::int64_t> next_{base::never_ns};
};

}  // namespace ham::detail
