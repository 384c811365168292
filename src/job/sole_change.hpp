// Nodes come and go one change at a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/clock.hpp"
#include "core/thread_state.hpp"
#include "ham/error.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

/// While it lives, the calling thread executes neither calls nor continuations, which might wait for what it does.
/// Those that are due then are others' to run.
class executing_nothing {
 public:
  explicit executing_nothing(engine& host) noexcept : host_(host) {}
  executing_nothing(const executing_nothing&) = delete;
  executing_nothing& operator=(const executing_nothing&) = delete;
  ~executing_nothing() { end(); }

  void end() noexcept {
    role_.end();
    if (host_.continuations.due()) host_.waits.wake();
  }

 private:
  engine& host_;
  receiving_thread role_;
};

/// Locks `one_at_a_time` while it lives. What the calling thread executed meanwhile might wait for a supervised node,
/// whose start waits for this lock: so it executes nothing, until the end of the change.
class sole_change {
 public:
  /// Throws deadline_exceeded. `host` and `one_at_a_time` outlive this.
  sole_change(engine& host, std::mutex& one_at_a_time, std::int64_t deadline_ns = base::never_ns)
      : guard_(lock_until(one_at_a_time, deadline_ns)), role_(host) {}
  sole_change(const sole_change&) = delete;
  sole_change& operator=(const sole_change&) = delete;
  ~sole_change() { end(); }

  void end() noexcept {
    if (!guard_.owns_lock()) return;
    guard_.unlock();
    role_.end();
  }

  [[nodiscard]] static deadline_exceeded too_late(const std::string& what) {
    return deadline_exceeded("no node was added before the deadline (" + what + "); allow more time",
                             call_outcome::not_run);
  }

 private:
  [[nodiscard]] static std::unique_lock<std::mutex> lock_until(std::mutex& mutex, std::int64_t deadline_ns) {
    if (deadline_ns == base::never_ns) return std::unique_lock(mutex);
    std::unique_lock guard(mutex, std::try_to_lock);
    while (!guard.owns_lock() && base::now_ns() < deadline_ns) {
      base::sleep_ns(1'000'000);
      static_cast<void>(guard.try_lock());
    }
    if (!guard.owns_lock()) throw too_late("others are being added");
    return guard;
  }

  std::unique_lock<std::mutex> guard_;
  executing_nothing role_;
};

}  // namespace ham::detail
