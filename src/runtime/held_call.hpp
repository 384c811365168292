// A call that has been received and is answered later, by another thread.
#pragma once

#include "base/observed_execution.hpp"
#include "core/call_stops.hpp"
#include "core/peer.hpp"
#include "core/thread_state.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

/// Kept from its arrival to its answer. Its payload is not: whoever needs it copies it before.
class held_call {
 public:
  /// Throws ham::call_error if too many calls wait on the node already.
  explicit held_call(const incoming_call& from);
  /// Gives a call that was not answered up.
  ~held_call();
  held_call(const held_call&) = delete;
  held_call& operator=(const held_call&) = delete;

  [[nodiscard]] stoppable_call& call() noexcept { return call_; }
  [[nodiscard]] const stoppable_call& call() const noexcept { return call_; }

  /// Calls action(call), which answers; what that throws is the answer. It counts, and is recorded, as the execution of
  /// the call. Any thread, once.
  template <class Action>
  void answer(Action action) noexcept {
    const engine_scope scope(call_.at);
    const base::observed_execution observed({call_.at->self(), call_.from->node, call_.function->key(), call_.call},
                                            &call_.at->counters);
    call_.decoded = true;
    try {
      action(call_);
    } catch (...) {
      call_failed(call_);
    }
  }

 private:
  stoppable_call call_;
};

}  // namespace ham::detail
