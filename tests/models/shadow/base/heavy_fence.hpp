// Stands for src/base/heavy_fence.hpp in the models.
#pragma once

#include <atomic>

#include "shadow/kernel.hpp"

namespace ham::inline v1::base {

inline bool register_heavy_fence() noexcept {
  return (model::kernel::has_membarrier >> model::this_thread() & 1U) != 0;
}

inline bool heavy_fence(model::place where = model::place::current()) noexcept {
  const bool refused =
      !register_heavy_fence() || (model::kernel::may_refuse && model::choose(2, "membarrier is refused") != 0);
  if (refused) {
    model::fence(std::memory_order_seq_cst, where);
    return false;
  }
  model::heavy_fence([](unsigned thread) { return (model::kernel::has_membarrier >> thread & 1U) != 0; }, where);
  return true;
}

/// All threads of a model that uses it are of one process.
inline void heavy_fence_private(model::place where = model::place::current()) noexcept {
  model::heavy_fence([](unsigned) { return register_heavy_fence(); }, where);
}

inline void light_fence(model::place where = model::place::current()) noexcept { model::light_fence(where); }

}  // namespace ham::base
