// Stands for src/base/thread_identity.hpp in the models: their threads are one thread of the system.
#pragma once

#include "explorer/engine.hpp"

namespace ham::inline v1::base {

[[nodiscard]] inline const void* thread_identity() noexcept {
  static const char identities[model::max_threads + 1]{};
  return &identities[model::this_thread()];
}

/// They share what is divided among threads.
[[nodiscard]] inline unsigned thread_number() noexcept { return 1; }

}  // namespace ham::base
