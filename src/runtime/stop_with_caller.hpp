// Futures that are stopped with the function that has made them.
#pragma once

#include <optional>

#include "core/call_stops.hpp"
#include "core/thread_state.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

/// The call that this thread executes, if it can be stopped, stops the pending `future` of the same node with itself.
inline void stop_with_caller(engine& at, const call_slot& future) {
  call_stop* const outer = this_thread.innermost_stop();
  if (outer == nullptr || outer->of().at != &at) return;
  const nested_call made = nested_call::of(future);
  if (outer->add_nested(made)) at.stop_call(made.id, std::nullopt);
}

/// A deadline that is no later than that of the call that this thread executes. `own_ns`, and what is given: 0 for
/// none, base::never_ns for one that can be stopped and has none.
[[nodiscard]] inline std::int64_t deadline_within_caller(std::int64_t own_ns) noexcept {
  const call_stop* const outer = this_thread.innermost_stop();
  return outer == nullptr ? own_ns : outer->deadline_within(own_ns);
}

}  // namespace ham::detail
