// What the runtime keeps per thread, and which engine a process has: all that is global in it.
#pragma once

#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v0::detail {

class ready_queue;

struct thread_state {
  static constexpr unsigned max_depth = 512;

  engine* current = nullptr;   ///< the engine that the thread works for
  unsigned depth = 0;          ///< of calls and continuations that it executes, one inside of the other
  bool only_receives = false;  ///< for others: it executes no call, except within a continuation that it runs
  /// From which queue it takes continuations, at what depth. What settles there within a continuation
  /// is left to that loop, so that chains of any length take no stack.
  struct drain {
    const ready_queue* of = nullptr;
    unsigned depth = 0;
  } draining;
  bool on_executor = false;  ///< it runs the work of an executor, and may be of no node
  void* context = nullptr;   ///< whose calls it executes, if it is the thread of one
};

extern constinit thread_local thread_state this_thread;

/// The engine that the calling thread works for, or nullptr.
[[nodiscard]] engine* current_or_null() noexcept;
/// Sets the engine of the calling thread; gives the one before.
engine* set_thread_engine(engine* at) noexcept;
/// Sets the engine of threads that work for none in particular.
void set_process_engine(engine* at) noexcept;
[[nodiscard]] engine* process_engine() noexcept;

}  // namespace ham::detail
