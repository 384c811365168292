// The catch for verbs of programs that have none.
#include "ham/offload/attempt.hpp"

#include "core/thread_state.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload::detail {

std::exception_ptr caught_of(void (*function)(void* with), void* with) noexcept {
  try {
    function(with);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

call_slot* failed_slot(std::exception_ptr why) noexcept {
  engine* const at = ham::detail::current_or_null();
  if (at == nullptr) return nullptr;
  try {
    call_slot* const slot = make_local_slot(*at);
    fail_local(*slot, std::move(why));
    return slot;
  } catch (const std::exception&) {
    return nullptr;  // a million futures, or no memory
  }
}

}  // namespace ham::offload::detail
