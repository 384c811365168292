// How threads of a pool wait for something that may need their pool.
#pragma once

#include "core/thread_state.hpp"
#include "ham/msg/thread_pool.hpp"

namespace ham::inline v1::detail {

/// For a thread that waits: executes a queued job of its pool if no other thread will. False: another one does.
inline bool help_pool(msg::thread_pool::waiting& wait) {
  if (!wait.starved()) return false;
  if (this_thread.depth >= thread_state::max_depth) return true;
  ++this_thread.depth;
  static_cast<void>(wait.help());
  --this_thread.depth;
  return true;
}

}  // namespace ham::detail
