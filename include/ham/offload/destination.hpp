// Where a call goes and how long it may take.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

#include "ham/error.hpp"

namespace ham::offload {

using ham::node_t;

namespace detail {

/// A time since the clock's epoch; INT64_MAX if it is beyond what nanoseconds can tell.
template <class Rep, class Period>
[[nodiscard]] constexpr std::int64_t nanoseconds_of(std::chrono::duration<Rep, Period> time) noexcept {
  const auto wanted = std::chrono::duration<long double, std::nano>(time).count();
  if (wanted >= static_cast<long double>(INT64_MAX)) return INT64_MAX;
  if (wanted <= 0) return 0;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

/// Nanoseconds on steady_clock `time` from now; INT64_MAX if that is beyond what the clock can tell.
template <class Rep, class Period>
[[nodiscard]] std::int64_t time_from_now(std::chrono::duration<Rep, Period> time) noexcept {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  const auto wanted = std::chrono::duration<long double, std::nano>(time).count();
  if (wanted >= static_cast<long double>(INT64_MAX - now)) return INT64_MAX;
  if (wanted <= 0) return now;
  return now + static_cast<std::int64_t>(wanted);
}

}  // namespace detail

/// A node, optionally a context on it, optionally a deadline. Implicitly made from a node number or a context.
struct destination {
  // NOLINTNEXTLINE(google-explicit-constructor): async(1, ...) must read like the papers
  template <std::integral Number>
  constexpr destination(Number on) noexcept : node(static_cast<node_t>(on)) {}
  constexpr destination(node_t on, std::uint32_t in_context) noexcept : node(on), context(in_context) {}

  node_t node;
  std::uint32_t context = 0;     ///< 0: the node's main queue
  std::int64_t deadline_ns = 0;  ///< on std::chrono::steady_clock; 0: none
};

/// `where` with a deadline from now: async(within(1, 10ms), ...). When it passes before the result is there, the
/// future settles with ham::deadline_exceeded; a result that arrives later is dropped.
template <class Rep, class Period>
[[nodiscard]] destination within(destination where, std::chrono::duration<Rep, Period> time) noexcept {
  where.deadline_ns = detail::time_from_now(time);
  if (where.deadline_ns == INT64_MAX) where.deadline_ns = 0;
  return where;
}

}  // namespace ham::offload
