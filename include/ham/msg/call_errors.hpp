// What the compiler says of a call that cannot be made: one text per reason and place, so that the first line of the
// error tells what is wrong with which argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ham/msg/customise.hpp"

namespace ham::inline v1::msg {

/// Where in a call a type stands: 0 somewhere, 1 to 8 as that argument, 9 as a later one, 10 as result, 11 as callable.
inline constexpr std::size_t place_beyond = 9;
inline constexpr std::size_t place_of_result = 10;
inline constexpr std::size_t place_of_callable = 11;

[[nodiscard]] constexpr std::size_t place_of_argument(std::size_t index) noexcept {
  return index < place_beyond - 1 ? index + 1 : place_beyond;
}

namespace detail {

/// Why an aggregate that nothing else is said of does not cross member by member.
enum class aggregate_problem : std::uint8_t { none, base, unknown_members, member };
template <class Value>
consteval aggregate_problem problem_of_aggregate();
/// The type of its first member that cannot cross.
template <class Value>
struct bad_member_of;

/// The first reason that holds is the one that is told.
template <class Value>
struct reasons_not_to_cross {
  static constexpr bool pointer = std::is_pointer_v<Value>;
  static constexpr bool reference = std::is_reference_v<Value>;
  static constexpr bool borrows = !pointer && !reference && borrows_v<Value>;
  static constexpr bool refers = pointer || reference || borrows;
  static constexpr bool cannot_move = !refers && std::is_object_v<Value> && !std::is_move_constructible_v<Value>;
  static constexpr aggregate_problem of_aggregate = [] {
    if constexpr (refers || cannot_move || !std::is_class_v<Value>)
      return aggregate_problem::none;
    else
      return problem_of_aggregate<Value>();
  }();
  static constexpr bool member = of_aggregate == aggregate_problem::member;
  static constexpr bool base = of_aggregate == aggregate_problem::base;
  static constexpr bool unknown_members = of_aggregate == aggregate_problem::unknown_members;
  static constexpr bool other = !refers && !cannot_move && of_aggregate == aggregate_problem::none;
};

}  // namespace detail

/// Named by the compiler's message when a program tries to send a Value that cannot cross.
template <class Value, std::size_t Place = 0>
struct type_cannot_cross;
/// When a Value cannot cross because a Member of it, or what that holds, cannot.
template <class Value, class Member, std::size_t Place>
struct member_cannot_cross;
/// When an argument does not fit its parameter.
template <class Argument, class Parameter, std::size_t Place>
struct argument_does_not_fit;
/// When a function would change its argument.
template <class Parameter, std::size_t Place>
struct parameter_is_reference;

namespace detail {
template <class Value, std::size_t Place, bool Member>
struct choose_error : std::type_identity<type_cannot_cross<Value, Place>> {};
template <class Value, std::size_t Place>
struct choose_error<Value, Place, true>
    : std::type_identity<member_cannot_cross<Value, typename bad_member_of<Value>::type, Place>> {};
}  // namespace detail

/// `type`: which of the two says why a Value cannot cross. Only to be asked of one that cannot.
template <class Value, std::size_t Place = 0>
struct crossing_error : detail::choose_error<Value, Place, detail::reasons_not_to_cross<Value>::member> {};

// Each inclusion defines the four for one place. (A macro with all of it would make compilers quote its expansion.)
#define HAM_PLACE 0
#define HAM_SUBJECT "this type"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 1
#define HAM_SUBJECT "argument 1"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 2
#define HAM_SUBJECT "argument 2"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 3
#define HAM_SUBJECT "argument 3"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 4
#define HAM_SUBJECT "argument 4"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 5
#define HAM_SUBJECT "argument 5"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 6
#define HAM_SUBJECT "argument 6"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 7
#define HAM_SUBJECT "argument 7"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 8
#define HAM_SUBJECT "argument 8"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 9
#define HAM_SUBJECT "an argument behind the eighth one"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 10
#define HAM_SUBJECT "the result of this function"
#include "ham/msg/call_error_texts.hpp"
#define HAM_PLACE 11
#define HAM_SUBJECT "this callable (an object with captures or members)"
#include "ham/msg/call_error_texts.hpp"

namespace detail {
template <class Callable>
inline constexpr bool is_capturing_lambda =
    !std::is_copy_assignable_v<Callable> && !std::is_default_constructible_v<Callable> &&
    !std::is_aggregate_v<Callable>;

template <class Callable, bool Lambda = is_capturing_lambda<Callable>>
struct place_of_lambda {};
#if defined(__GNUC__) && !defined(__clang__)
/// Lambdas cannot be assigned, and GCC notes where the lambda stands that somebody tries to assign: else it names the
/// line of the call only.
template <class Callable>
struct place_of_lambda<Callable, true> {
  using lambda_that_cannot_cross_is_noted_below =
      decltype(*static_cast<Callable*>(nullptr) = *static_cast<const Callable*>(nullptr));
};
#endif
}  // namespace detail

/// Named by the compiler's message when a lambda, or another object whose members cannot be told, is to be called on
/// another node. Compilers print where Callable, the lambda, stands, and the line of the call behind `required from
/// here`.
template <class Callable>
struct callable_cannot_cross {
  static_assert(std::is_void_v<Callable>,
                "ham: this callable (an object with captures or members) cannot cross to another node: it captures "
                "something that does not cross by its bytes, such as a std::string or a container. Pass that as an "
                "argument of the call, or bind it: ham::bind([](const std::string& text) { ... }, text)");
  detail::place_of_lambda<Callable> place;
};

}  // namespace ham::msg
