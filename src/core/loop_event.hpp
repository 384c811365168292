// A descriptor that stands in for a sleeping thread of a node, for programs that wait in an event loop of their own.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/thread_identity.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {

/// Readable after signal(), when the time has come, and when the descriptor that the node sleeps on is.
class loop_event {
 public:
  /// `sleeps_on`: readable when a transport has news, or somebody wakes the node; outlives this. Throws
  /// ham::config_error without descriptors.
  explicit loop_event(int sleeps_on);

  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }

  // ---- any thread
  /// Makes it readable.
  void signal() noexcept;

  // ---- the thread of the loop
  /// What is signalled from now on is handled by this turn.
  void begin_turn() noexcept;
  /// Takes back what was signalled; from now on signals make it readable.
  void drain() noexcept;
  /// Readable at `until_ns` (base::now_ns()) at the latest, perhaps before.
  void set_time(std::int64_t until_ns) noexcept;
  /// Whether the calling thread is the one that took the last turn.
  [[nodiscard]] bool is_mine() const noexcept {
    return thread_.load(std::memory_order_relaxed) == base::thread_identity();
  }

 private:
  base::unique_fd epoll_, event_, timer_;
  std::atomic<bool> signalled_{false};
  std::atomic<const void*> thread_{nullptr};
  std::int64_t timer_ns_;  // it expires
};

}  // namespace ham::detail
