// Stands for src/base/thread.hpp in the models: threads that need not come to their end.
#pragma once

#include <thread>
#include <utility>

#include "explorer/engine.hpp"

namespace ham::inline v1::base {

template <class Work>
[[nodiscard]] std::thread start_thread(Work work) {
  return std::thread(std::move(work), model::lifetime::daemon);
}

}  // namespace ham::base
