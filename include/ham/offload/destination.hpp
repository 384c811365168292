// Where a call goes and how long it may take.
#pragma once

#include <cstdint>

#include "ham/error.hpp"
#include "ham/msg/std_forward.hpp"
#include "ham/offload/node_number.hpp"

namespace ham::offload {

using ham::node_t;

namespace detail {

template <class Rep, class Period>
[[nodiscard]] constexpr long double nanoseconds_in(std::chrono::duration<Rep, Period> time) noexcept {
  return static_cast<long double>(time.count()) * Period::num * 1e9L / Period::den;
}
/// As an integer; 0 for what is negative, INT64_MAX for what is beyond it.
[[nodiscard]] std::int64_t clamped_nanoseconds(long double time_ns) noexcept;
/// Nanoseconds on steady_clock `wanted_ns` from now; INT64_MAX if that is beyond what the clock can tell.
[[nodiscard]] std::int64_t nanoseconds_from_now(long double wanted_ns) noexcept;

/// A time since the clock's epoch; INT64_MAX if it is beyond what nanoseconds can tell.
template <class Rep, class Period>
[[nodiscard]] std::int64_t nanoseconds_of(std::chrono::duration<Rep, Period> time) noexcept {
  return clamped_nanoseconds(nanoseconds_in(time));
}

/// Nanoseconds on steady_clock `time` from now; INT64_MAX if that is beyond what the clock can tell.
template <class Rep, class Period>
[[nodiscard]] std::int64_t time_from_now(std::chrono::duration<Rep, Period> time) noexcept {
  return nanoseconds_from_now(nanoseconds_in(time));
}

}  // namespace detail

/// A node, optionally a context on it, optionally a deadline. Implicitly made from a node number or a context.
struct destination {
  // NOLINTNEXTLINE(google-explicit-constructor): async(1, ...) must read like the papers
  template <detail::integer Number>
  constexpr destination(Number on) noexcept(detail::always_a_node_t<Number>) : node(node_number(on)) {}
  constexpr destination(node_number on) noexcept : node(on) {}  // NOLINT(google-explicit-constructor)
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
