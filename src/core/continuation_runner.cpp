// The loop that takes continuations from their queue.
#include "core/continuation_runner.hpp"

#include <utility>

namespace ham::inline v1::detail {

bool continuation_runner::run_at_most(std::size_t count) {
  const engine_scope scope(owner_);
  const bool only_received = std::exchange(this_thread.only_receives, false);  // as user code it may wait for any call
  const thread_state::drain before = std::exchange(this_thread.draining, {&due_, ++this_thread.depth});
  std::size_t run = 0;
  for (; run < count; ++run) {
    continuation* const now = due_.pop();
    if (now == nullptr) break;
    now->run(now);
  }
  --this_thread.depth;
  this_thread.draining = before;
  this_thread.only_receives = only_received;
  return run != 0;
}

void continuation_runner::run_settled() {
  const bool taken_care_of = this_thread.draining.of == &due_ && this_thread.draining.depth == this_thread.depth;
  if (!taken_care_of && due()) run();
}

}  // namespace ham::detail
