// Handles among the arguments of calls, whose processes may have gone. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "ham/misc/types.hpp"
#include "ham/msg/aggregate_members.hpp"
#include "ham/msg/bind.hpp"
#include "ham/msg/bound.hpp"
#include "ham/msg/codec.hpp"

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

/// Whether an argument, or what it consists of, may be a buffer_ptr or a buffer_span: elements of ranges, parts of
/// tuples, optionals and variants, fields, members of aggregates, values of bind() and of bound calls. Not: captures of
/// lambdas and members of classes that list none, which the language does not tell, and what contains itself.
template <class Value, class... Around>
consteval bool may_hold_handles();

template <class Parts, class... Around>
inline constexpr bool one_may_hold_handles = false;
template <template <class...> class List, class... Parts, class... Around>
inline constexpr bool one_may_hold_handles<List<Parts...>, Around...> =
    (may_hold_handles<std::remove_cvref_t<Parts>, Around...>() || ...);

template <class Value>
inline constexpr bool is_bound_call = false;
template <class Callable, class... Params>
inline constexpr bool is_bound_call<bound<Callable, Params...>> = true;
template <class Value>
inline constexpr bool is_binding = false;
template <class Callable, class... Values>
inline constexpr bool is_binding<binding<Callable, Values...>> = true;
template <class Value>
concept is_tuple = requires {
  std::tuple_size<Value>::value;
};
template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;
template <class Value>
inline constexpr bool is_variant = false;
template <class... Values>
inline constexpr bool is_variant<std::variant<Values...>> = true;

/// Aggregates that cross by their bytes, or member by member.
template <class Value>
consteval std::size_t visible_members() {
  constexpr msg::detail::codec_kind kind = msg::detail::kind_of<Value>();
  if constexpr (kind == msg::detail::codec_kind::bitwise || kind == msg::detail::codec_kind::aggregate)
    return msg::detail::value_member_count<Value>();
  else
    return 0;
}

template <class Value, class... Around>
consteval bool may_hold_handles() {
  if constexpr ((std::is_same_v<Value, Around> || ...)) {
    return false;
  } else if constexpr (is_memory_handle<Value>) {
    return true;
  } else if constexpr (!std::is_class_v<Value> && !std::is_array_v<Value>) {
    return false;
  } else if constexpr (std::ranges::forward_range<const Value>) {
    return may_hold_handles<std::ranges::range_value_t<const Value>, Around..., Value>();
  } else if constexpr (is_optional<Value> || is_variant<Value>) {
    return one_may_hold_handles<Value, Around..., Value>;
  } else if constexpr (is_binding<Value>) {
    return one_may_hold_handles<Value, Around..., Value>;
  } else if constexpr (is_bound_call<Value>) {
    return one_may_hold_handles<Value, Around..., Value>;
  } else if constexpr (is_tuple<Value>) {
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
      return (may_hold_handles<std::remove_cvref_t<std::tuple_element_t<Index, Value>>, Around..., Value>() || ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Value>>());
  } else if constexpr (msg::detail::has_own_fields<Value>()) {
    return one_may_hold_handles<decltype(msg::detail::fields_in(std::declval<const Value&>())), Around..., Value>;
  } else if constexpr (visible_members<Value>() != 0) {
    return one_may_hold_handles<msg::detail::declared_members_t<Value, visible_members<Value>()>, Around..., Value>;
  } else {
    return false;
  }
}

/// The same, of a type that stands alone.
template <class Value>
inline constexpr bool holds_memory_handles = may_hold_handles<Value>();

/// Calls `function(node)` for the handles in an argument.
template <class Value, class Function>
void for_handles_in(const Value& value, Function&& function) {
  const auto each = [&function](const auto&... parts) { (for_handles_in(parts, function), ...); };
  if constexpr (is_memory_handle<Value>) {
    if (value.node() >= 0) function(value.node());
  } else if constexpr (!holds_memory_handles<Value>) {
  } else if constexpr (std::ranges::forward_range<const Value>) {
    for (const auto& one : value) for_handles_in(one, function);
  } else if constexpr (is_optional<Value>) {
    if (value) for_handles_in(*value, function);
  } else if constexpr (is_variant<Value>) {
    if (!value.valueless_by_exception()) std::visit(each, value);
  } else if constexpr (is_binding<Value>) {
    for_handles_in(value.callable(), function);
    std::apply(each, value.values());
  } else if constexpr (is_bound_call<Value>) {
    for_handles_in(value.callable(), function);
    std::apply(each, value.arguments());
  } else if constexpr (is_tuple<Value>) {
    std::apply(each, value);
  } else if constexpr (msg::detail::has_own_fields<Value>()) {
    std::apply(each, msg::detail::fields_in(value));
  } else {
    msg::detail::with_members<visible_members<Value>()>(value, each);
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
