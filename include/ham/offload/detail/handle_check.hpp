// Handles among the arguments of calls, whose processes may have gone. Internal.
#pragma once

#include <atomic>
#include <ranges>
#include <type_traits>

#include "ham/misc/types.hpp"

namespace ham::inline v1::offload {
template <class Element>
class buffer_ptr;
template <class Element>
class buffer_span;
}  // namespace ham::offload

namespace ham::inline v1::detail {

class engine;

/// Whether a number has ever stood for another process than its own: before, all handles are of processes that live, or
/// have no other one in their place. Never false again.
extern std::atomic<bool> handles_may_be_old;

/// Throws ham::buffer_error if the process `node` has gone, and another one has its number.
void refuse_handle_of(engine& at, node_t node);

template <class Value>
inline constexpr bool is_memory_handle = false;
template <class Element>
inline constexpr bool is_memory_handle<offload::buffer_ptr<Element>> = true;
template <class Element>
inline constexpr bool is_memory_handle<offload::buffer_span<Element>> = true;

/// A buffer_ptr or buffer_span, or a range of them. What else may hold one is not looked into.
template <class Value>
inline constexpr bool holds_memory_handles = is_memory_handle<Value>;
template <class Value>
requires std::ranges::forward_range<const Value>
inline constexpr bool holds_memory_handles<Value> = is_memory_handle<std::ranges::range_value_t<const Value>>;

/// Calls `function(node)` for the handles in an argument.
template <class Value, class Function>
void for_handles_in(const Value& value, Function&& function) {
  if constexpr (is_memory_handle<Value>) {
    if (value.node() >= 0) function(value.node());
  } else if constexpr (holds_memory_handles<Value>) {
    for (const auto& one : value) for_handles_in(one, function);
  }
}

/// Of a call whose process is decided: an address in the memory of the one before would be any address there. Throws as
/// refuse_handle_of(). Nothing for calls without handles.
template <class... Values>
void refuse_old_handles([[maybe_unused]] engine& at, [[maybe_unused]] const Values&... values) {
  if constexpr ((holds_memory_handles<Values> || ...)) {
    if (handles_may_be_old.load(std::memory_order_relaxed)) [[unlikely]]
      (for_handles_in(values, [&](node_t node) { refuse_handle_of(at, node); }), ...);
  }
}

}  // namespace ham::detail
