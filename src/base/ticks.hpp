// A clock for marks in memory: cheaper than now_ns(). Who reads the marks finds out how long a tick is.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace ham::inline v1::base {

/// Where ticks are from. Those of one source are comparable within one machine.
enum class tick_source : std::uint32_t { none, x86_counter, arm_counter, clock };

#if defined(HAM_TICKS_OF_CLOCK)  // a build in which only now_ns() tells the time
inline constexpr tick_source own_tick_source = tick_source::clock;
#elif defined(__x86_64__) || defined(__i386__)
inline constexpr tick_source own_tick_source = tick_source::x86_counter;
#elif defined(__aarch64__)
inline constexpr tick_source own_tick_source = tick_source::arm_counter;
#else
inline constexpr tick_source own_tick_source = tick_source::clock;
#endif

/// Not ordered with what is around it.
[[nodiscard]] inline std::uint64_t read_ticks() noexcept {
#if defined(HAM_TICKS_OF_CLOCK)
  return static_cast<std::uint64_t>(now_ns());
#elif defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

}  // namespace ham::base
