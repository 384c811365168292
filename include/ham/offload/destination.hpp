// Where a call goes and how long it may take.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

#include "ham/error.hpp"

namespace ham::offload {

using ham::node_t;

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
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(time);
  where.deadline_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(until.time_since_epoch()).count();
  return where;
}

}  // namespace ham::offload
