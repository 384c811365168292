// The monotonic clock, and how a thread lets time pass. Nothing else in the library reads a clock to wait by it, sleeps
// for a time, or gives its core away: a simulation replaces what is here.
#pragma once

#include <chrono>
#include <cstdint>

namespace ham::inline v1::base {

/// Nanoseconds of CLOCK_MONOTONIC since an arbitrary start; comparable within one machine. Cheap enough for spin loops.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Later than every deadline.
inline constexpr std::int64_t never_ns = INT64_MAX;

/// Sleeps in the kernel for at least so long, unless a signal handler runs meanwhile. Not for `never_ns`.
void sleep_ns(std::int64_t duration_ns) noexcept;

/// Lets another thread that is ready to run have the core of the calling one.
void yield() noexcept;

}  // namespace ham::base
