// The number of a node as it is passed to a function: an integer of any type whose value is checked, never cut off.
#pragma once

#include <type_traits>

#include "ham/error.hpp"

namespace ham::inline v1::offload {

using ham::node_t;

namespace detail {

/// Integers, and enumerations that convert to them.
template <class Number>
concept integer = std::is_integral_v<Number> ||(std::is_enum_v<Number>&& std::is_convertible_v<Number, long long>);

/// What Number becomes in arithmetic: int or a larger type.
template <class Number>
using promoted_t = decltype(+Number{});

/// Whether every value of Number is one of node_t, so that there is nothing to check.
template <class Number>
inline constexpr bool always_a_node_t =
    sizeof(promoted_t<Number>) == sizeof(node_t) && std::is_signed_v<promoted_t<Number>>;

/// Throws ham::call_error for a number beyond node_t.
[[noreturn]] void throw_no_node(unsigned long long number, bool is_signed);

}  // namespace detail

/// Implicitly made from integers of all types: `size_t` indices of loops as well as `node_t`. A value that node_t
/// cannot hold, which would be the number of another node if it were cut off, throws ham::call_error. A `bool` is no
/// number of a node and does not compile.
class node_number {
 public:
  /// Throws ham::call_error for a number that node_t cannot hold. Which nodes the job has is not checked.
  template <detail::integer Number>
  // NOLINTNEXTLINE(google-explicit-constructor): allocate<T>(1, n) must read like the papers
  constexpr node_number(Number number) noexcept(detail::always_a_node_t<Number>) : value_(static_cast<node_t>(number)) {
    static_assert(!std::is_same_v<Number, bool>, "ham: a bool is not the number of a node; write 0 or 1");
    if constexpr (!detail::always_a_node_t<Number>) {
      const detail::promoted_t<Number> whole = number;
      const bool negative = std::is_signed_v<detail::promoted_t<Number>> && value_ < 0;
      if (static_cast<detail::promoted_t<Number>>(value_) != whole || negative != (value_ < 0)) [[unlikely]]
        detail::throw_no_node(static_cast<unsigned long long>(whole), std::is_signed_v<detail::promoted_t<Number>>);
    }
  }

  /// The number.
  constexpr operator node_t() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  node_t value_;
};

}  // namespace ham::offload
