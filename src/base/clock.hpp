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

/// How many times fewer polls a waiting thread makes before it reads the clock, gives its core away, or sleeps. In a
/// simulation each poll takes as long as elsewhere, and nobody else gets on meanwhile.
#if defined(HAM_POLLS_LEFT_OUT)
inline constexpr unsigned polls_left_out = HAM_POLLS_LEFT_OUT;
#else
inline constexpr unsigned polls_left_out = 1;
#endif
static_assert(polls_left_out >= 1 && polls_left_out <= 32);
/// Polls of a thread that waits between two readings of the clock, while they find something.
inline constexpr unsigned polls_per_clock = 32 / polls_left_out;
/// The same while they find nothing: then each takes longer, and somebody may need the core.
inline constexpr unsigned idle_polls_per_clock = polls_left_out > 8 ? 1 : 8 / polls_left_out;

/// Sleeps in the kernel for at least so long, unless a signal handler runs meanwhile. Not for `never_ns`.
void sleep_ns(std::int64_t duration_ns) noexcept;

/// Lets another thread that is ready to run have the core of the calling one.
void yield() noexcept;

}  // namespace ham::base
