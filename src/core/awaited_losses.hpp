// What waits for the loss of a process that has said of itself that it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "core/ready_queue.hpp"
#include "ham/misc/types.hpp"

namespace ham::inline v1::detail {

/// Few at a time: the calls that a process had when it failed, and that are repeated. Each waits until a time at most.
/// The receiving lock is held, unless said otherwise; who holds it runs afterwards what is due.
class awaited_losses {
 public:
  /// How long a process that has said that it ends may take until its loss is noted; then it is not believed.
  static constexpr std::int64_t timeout_ns = 10'000'000'000;

  /// `due`: takes what has waited.
  explicit awaited_losses(ready_queue& due) noexcept : due_(due) {}

  /// Throws std::bad_alloc.
  void add(node_t process, continuation* what, std::int64_t until_ns);
  /// That process is lost.
  void lost(node_t process) noexcept;
  /// Those that have waited for too long wait no more.
  void expire(std::int64_t now_ns) noexcept;
  /// Nor does anything else: the node ends.
  void expire_all() noexcept { expire(base::never_ns); }
  /// When the first one has waited for too long. Any thread.
  [[nodiscard]] std::int64_t next_ns() const noexcept { return next_ns_.load(std::memory_order_relaxed); }
  /// In a child after fork: what waits is the parent's.
  void detach_after_fork() noexcept;

 private:
  struct waiting {
    node_t process;
    continuation* what;
    std::int64_t until_ns;
  };
  template <class IsDue>
  void release(IsDue is_due) noexcept;

  ready_queue& due_;
  std::vector<waiting> all_;
  std::atomic<std::int64_t> next_ns_{base::never_ns};
};

}  // namespace ham::detail
