// The calls that are sent again when their process is lost: which call a future of one stands for at the moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/renew.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

/// Of the calls by retry() and the repeatable tasks of pools that this node has made and that are pending. Any thread.
class repeated_calls {
 public:
  /// Of the position of its future, behind a number: nested_call tells by it which one it is. No operation, see
  /// report_slot().
  static constexpr std::uint64_t mark = std::uint64_t{1} << 63U;
  /// Whether a local slot is the future of one, also when that has its result.
  [[nodiscard]] static bool is_one(const call_slot& future) noexcept { return (future.position & mark) != 0; }

  struct attempt {
    std::optional<std::uint32_t> call;  ///< the latest that was sent; it may have failed
  };

  /// Throws std::bad_alloc.
  void add(const call_slot& future, const msg::handler_entry& function) {
    std::lock_guard guard(mutex_);
    all_.insert_or_assign(&future, record{&function, {}, {}});
  }
  /// Before the slot of the future may become another's.
  void remove(const call_slot& future) noexcept {
    std::lock_guard guard(mutex_);
    all_.erase(&future);
  }
  /// It was sent as that call. How the future was stopped meanwhile, if it was: then the call is to be stopped, too.
  [[nodiscard]] std::optional<offload::when_stopped> sent(const call_slot& future, std::uint32_t call) noexcept {
    std::lock_guard guard(mutex_);
    const auto found = all_.find(&future);
    if (found == all_.end()) return std::nullopt;
    found->second.now.call = call;
    return found->second.stopped;
  }
  /// It is not sent again. The call that is to be stopped; nothing: it is no such future, or has settled.
  [[nodiscard]] std::optional<attempt> stop(const call_slot& future, offload::when_stopped how) noexcept {
    std::lock_guard guard(mutex_);
    const auto found = all_.find(&future);
    if (found == all_.end()) return std::nullopt;
    found->second.stopped = how;
    return found->second.now;
  }
  /// The call that it is now; nothing: it is no such future, or has settled.
  [[nodiscard]] std::optional<attempt> latest(const call_slot& future) const noexcept {
    std::lock_guard guard(mutex_);
    const auto found = all_.find(&future);
    return found == all_.end() ? std::nullopt : std::optional(found->second.now);
  }
  [[nodiscard]] bool is_stopped(const call_slot& future) const noexcept {
    std::lock_guard guard(mutex_);
    const auto found = all_.find(&future);
    return found != all_.end() && found->second.stopped.has_value();
  }
  /// Whether one calls a function for which `is_meant(function)` is true.
  template <class IsMeant>
  [[nodiscard]] bool any(IsMeant is_meant) const {
    std::lock_guard guard(mutex_);
    return std::any_of(all_.begin(), all_.end(), [&](const auto& one) { return is_meant(*one.second.function); });
  }
  /// In a child after fork: no thread holds the lock, and nothing is sent.
  void detach_after_fork() noexcept { base::renew(mutex_); }

 private:
  struct record {
    const msg::handler_entry* function;
    attempt now;
    std::optional<offload::when_stopped> stopped;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const call_slot*, record> all_;
};

}  // namespace ham::detail
