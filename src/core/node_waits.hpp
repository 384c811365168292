// What waits for something that happens to a node: its loss, or another process of its number.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "core/ready_queue.hpp"
#include "ham/misc/types.hpp"

namespace ham::inline v1::detail {

/// Few at a time. Each waits until a time at most. Its owner's lock is held, unless said otherwise.
class node_waits {
 public:
  /// `due`: takes what has waited; nullptr: nothing ever waits.
  explicit node_waits(ready_queue* due) noexcept : due_(due) {}

  /// Whether add() is allowed. Any thread.
  [[nodiscard]] bool can_wait() const noexcept { return due_ != nullptr; }
  /// Throws std::bad_alloc. A thread that sleeps until next_ns() has to be woken.
  void add(node_t node, continuation* what, std::int64_t until_ns);
  /// It has happened.
  void release(node_t node) noexcept;
  /// Those that have waited for too long wait no more.
  void expire(std::int64_t now_ns) noexcept;
  void release_all() noexcept { expire(base::never_ns); }
  /// When the first one has waited for too long, or earlier. Any thread.
  [[nodiscard]] std::int64_t next_ns() const noexcept { return next_ns_.load(); }
  /// In a child after fork: what waits is the parent's.
  void detach_after_fork() noexcept;

 private:
  struct waiting {
    node_t node;
    continuation* what;
    std::int64_t until_ns;
  };
  template <class IsDue>
  void release_if(IsDue is_due) noexcept;

  ready_queue* const due_;
  std::vector<waiting> all_;
  /// In one order with the announcement of a thread that it sleeps.
  std::atomic<std::int64_t> next_ns_{base::never_ns};
};

}  // namespace ham::detail
