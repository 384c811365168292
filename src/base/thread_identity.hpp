// Which thread this is.
#pragma once

namespace ham::inline v1::base {

/// Identity of the calling thread, never null.
[[nodiscard]] inline const void* thread_identity() noexcept {
  static thread_local char identity;
  return &identity;
}

}  // namespace ham::base
