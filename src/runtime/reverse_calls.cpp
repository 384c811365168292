// Contexts of the own node, and waiting without executing.
#include "ham/offload/detail/reverse_calls.hpp"

#include <utility>

#include "core/thread_state.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {

only_receiving::only_receiving() noexcept : before_(std::exchange(this_thread.only_receives, true)) {}
only_receiving::~only_receiving() { this_thread.only_receives = before_; }

void start_progress_thread() { current().start_progress_thread(); }

offload::destination open_own_context(std::size_t stack_bytes) {
  engine& at = current();
  return {at.self(), at.thread_contexts.open(stack_bytes)};
}

void end_own_context(const offload::destination& which) noexcept {
  if (engine* const at = current_or_null(); at != nullptr) at->thread_contexts.end(which.context);
}

std::uint32_t own_context() noexcept { return contexts::current(); }

}  // namespace ham::detail
