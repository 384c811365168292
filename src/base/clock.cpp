// How a thread lets time pass.
#include "base/clock.hpp"

#include <sched.h>

#include <algorithm>
#include <ctime>

namespace ham::inline v1::base {

void sleep_ns(std::int64_t duration_ns) noexcept {
  const std::int64_t ns = std::max<std::int64_t>(0, duration_ns);
  const timespec duration{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::nanosleep(&duration, nullptr);
}

void yield() noexcept { ::sched_yield(); }

}  // namespace ham::base
