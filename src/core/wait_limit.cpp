#include "core/wait_limit.hpp"

#include "core/call_stops.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {

bool wait_limit::stopped() const noexcept {
  if (token != nullptr && token->stop_requested()) return true;
  call_stop* const outer = with_caller ? this_thread.innermost_stop() : nullptr;
  return outer != nullptr && outer->requested();
}

}  // namespace ham::detail
