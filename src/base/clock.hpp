// A cheap monotonic clock for spin loops: nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <chrono>
#include <cstdint>

namespace ham::base {

/// Nanoseconds since an arbitrary start; comparable within one machine.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Later than every deadline.
inline constexpr std::int64_t never_ns = INT64_MAX;

}  // namespace ham::base
