// Which thread this is.
#pragma once

#include <atomic>

namespace ham::inline v1::base {

/// Identity of the calling thread, never null.
[[nodiscard]] inline const void* thread_identity() noexcept {
  static thread_local char identity;
  return &identity;
}

/// The calling thread's number: threads are numbered from 1 in the order in which they first ask.
[[nodiscard]] inline unsigned thread_number() noexcept {
  static constinit std::atomic<unsigned> last{0};
  static constinit thread_local unsigned number = 0;
  if (number == 0) [[unlikely]]
    number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace ham::base
