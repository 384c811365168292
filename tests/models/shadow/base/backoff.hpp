// Stands for src/base/backoff.hpp in the models: a round of waiting lasts until something has changed.
#pragma once

#include <cstdint>

#include "explorer/engine.hpp"

namespace ham::inline v1::base {

struct backoff_schedule {
  static constexpr unsigned no_limit = UINT32_MAX;
  unsigned spins = 0;
  unsigned yields = no_limit;
  std::int64_t sleep_ns = 50'000;
  std::int64_t max_sleep_ns = 0;
};

template <backoff_schedule Schedule>
class backoff {
 public:
  void wait(model::place where = model::place::current()) noexcept { model::pause(where); }
};

}  // namespace ham::base
