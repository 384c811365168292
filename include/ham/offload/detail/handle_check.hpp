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
#include <vector>

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

template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;
template <class Value>
inline constexpr bool is_variant = false;
template <class... Values>
inline constexpr bool is_variant<std::variant<Values...>> = true;
template <class Value>
inline constexpr bool is_tuple = false;
template <class... Values>
inline constexpr bool is_tuple<std::tuple<Values...>> = true;
template <class First, class Second>
inline constexpr bool is_tuple<std::pair<First, Second>> = true;
template <class Value>
inline constexpr bool is_binding = false;
template <class Callable, class... Values>
inline constexpr bool is_binding<binding<Callable, Values...>> = true;
template <class Value>
inline constexpr bool is_bound_call = false;
template <class Callable, class... Params>
inline constexpr bool is_bound_call<bound<Callable, Params...>> = true;

/// How many members for_handles_in() goes into: of aggregates that cross by their bytes, or member by member.
template <class Value>
consteval std::size_t visible_members() {
  constexpr msg::detail::codec_kind kind = msg::detail::kind_of<Value>();
  if constexpr (kind == msg::detail::codec_kind::aggregate)
    return msg::detail::value_member_count<Value>();
  else if constexpr (kind == msg::detail::codec_kind::bitwise && std::is_aggregate_v<Value>)
    return msg::detail::member_count<Value>();
  else
    return 0;
}

template <class... Types>
struct part_list {
  template <class... More>
  [[nodiscard]] static consteval part_list<Types..., More...> with(part_list<More...>) {
    return {};
  }
};
template <class Types>
struct parts_without_references;
template <template <class...> class List, class... Types>
struct parts_without_references<List<Types...>> {
  using type = part_list<std::remove_cvref_t<Types>...>;
};

/// The types that a value consists of, as for_handles_in() goes through them: parts of optionals, variants and tuples,
/// values of bind() and of bound calls, fields, members of aggregates, elements of ranges. Not: captures of lambdas,
/// members of other classes, bases and unions, which the language does not tell.
template <class Value>
[[nodiscard]] consteval auto parts_of() {
  if constexpr (std::is_empty_v<Value> || (!std::is_class_v<Value> && !std::is_array_v<Value>)) {
    return part_list<>();
  } else if constexpr (is_optional<Value> || is_variant<Value> || is_tuple<Value> || is_binding<Value> ||
                       is_bound_call<Value>) {
    return typename parts_without_references<Value>::type();
  } else if constexpr (msg::detail::has_own_fields<Value>()) {
    using fields = decltype(msg::detail::fields_in(std::declval<const Value&>()));
    return typename parts_without_references<fields>::type();
  } else if constexpr (visible_members<Value>() != 0) {
    using members = msg::detail::declared_members_t<Value, visible_members<Value>()>;
    return typename parts_without_references<members>::type();
  } else if constexpr (std::ranges::forward_range<const Value>) {
    return part_list<std::ranges::range_value_t<const Value>>();
  } else {
    return part_list<>();
  }
}

/// Whether one of these types is a buffer_ptr or a buffer_span, or consists of some. Each is gone into once.
template <class... Seen>
consteval bool lead_to_handles(part_list<Seen...>, part_list<>) {
  return false;
}
template <class... Seen, class First, class... Rest>
consteval bool lead_to_handles(part_list<Seen...> seen, part_list<First, Rest...>) {
  if constexpr ((std::is_same_v<First, Seen> || ...))
    return lead_to_handles(seen, part_list<Rest...>());
  else if constexpr (is_memory_handle<First>)
    return true;
  else
    return lead_to_handles(part_list<Seen..., First>(), part_list<Rest...>::with(parts_of<First>()));
}

/// Of an argument.
template <class Value>
inline constexpr bool holds_memory_handles = lead_to_handles(part_list<>(), part_list<Value>());

/// Calls `function(node)` for the handles in an argument.
template <class Value, class Function>
void for_handles_in(const Value& value, Function&& function) {
  const auto each = [&function](const auto&... parts) { (for_handles_in(parts, function), ...); };
  if constexpr (is_memory_handle<Value>) {
    if (value.node() >= 0) function(value.node());
  } else if constexpr (!holds_memory_handles<Value>) {
  } else if constexpr (is_optional<Value>) {
    if (value) for_handles_in(*value, function);
  } else if constexpr (is_variant<Value>) {
    if (!value.valueless_by_exception()) std::visit(each, value);
  } else if constexpr (is_tuple<Value>) {
    std::apply(each, value);
  } else if constexpr (is_binding<Value>) {
    for_handles_in(value.callable(), function);
    std::apply(each, value.values());
  } else if constexpr (is_bound_call<Value>) {
    for_handles_in(value.callable(), function);
    std::apply(each, value.arguments());
  } else if constexpr (msg::detail::has_own_fields<Value>()) {
    std::apply(each, msg::detail::fields_in(value));
  } else if constexpr (visible_members<Value>() != 0) {
    msg::detail::with_members<visible_members<Value>()>(value, each);
  } else {
    for (const auto& one : value) for_handles_in(one, function);
  }
}

/// Adds the nodes of the handles in an argument, those of many handles of one node once.
template <class Value>
void append_nodes_of_handles(const Value& value, std::vector<node_t>& to) {
  for_handles_in(value, [&to](node_t node) {
    if (to.empty() || to.back() != node) to.push_back(node);
  });
}

/// Of a call whose process is decided: an address in the memory of the one before would be any address there. Throws as
/// refuse_handle_of(). Nothing for calls without handles.
template <class... Values>
void refuse_old_handles([[maybe_unused]] engine& at, [[maybe_unused]] const Values&... values) {
  if constexpr ((holds_memory_handles<Values> || ...)) {
    if (handles_may_be_old.load(std::memory_order_relaxed)) [[unlikely]] {
      node_t last = -1;
      const auto refuse = [&](node_t node) {
        if (std::exchange(last, node) != node) refuse_handle_of(at, node);
      };
      (for_handles_in(values, refuse), ...);
    }
  }
}

}  // namespace ham::detail
