// Which thread runs the continuations of what has settled, and how deep inside of what else.
#pragma once

#include <cstddef>

#include "core/ready_queue.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {

/// All members may be called from any thread, which holds no lock.
class continuation_runner {
 public:
  /// `owner`: the engine that its threads work for meanwhile.
  continuation_runner(engine* owner, ready_queue& due) noexcept : owner_(owner), due_(due) {}

  /// Whether something is due.
  [[nodiscard]] bool due() const noexcept { return !due_.empty(); }
  /// Whether that may run on this thread: then nothing else begins before.
  [[nodiscard]] bool may_run() const noexcept {
    return due() && this_thread.depth < thread_state::max_depth && !this_thread.leaves_continuations;
  }
  /// Runs what is due, and what becomes due meanwhile, unless calls are nested too deep on this thread. True if
  /// something has run.
  bool run() {
    return this_thread.depth < thread_state::max_depth && !this_thread.leaves_continuations && run_at_most(SIZE_MAX);
  }
  /// Runs the oldest one, however deep calls are nested.
  bool run_one() { return run_at_most(1); }
  /// As run() after this thread has settled something itself, unless it does so within a continuation: the loop that
  /// runs that one takes what is due next.
  void run_settled();

 private:
  bool run_at_most(std::size_t count);

  engine* const owner_;
  ready_queue& due_;
};

}  // namespace ham::detail
