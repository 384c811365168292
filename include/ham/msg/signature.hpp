// Which parameters and which result an offloaded call has, and the checks that it can be made.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/callable.hpp"

namespace ham::msg {

namespace detail {

/// Result and parameter list of a function.
template <class Result, class... Params>
struct call_shape {};

template <class Function>
struct function_shape;

// Every way to qualify a function type; there is no way to match them together.
#define HAM_FUNCTION_SHAPE(QUALIFIERS)                  \
  template <class Result, class... Params>              \
  struct function_shape<Result(Params...) QUALIFIERS> { \
    using type = call_shape<Result, Params...>;         \
  };
HAM_FUNCTION_SHAPE()
HAM_FUNCTION_SHAPE(const)
HAM_FUNCTION_SHAPE(&)
HAM_FUNCTION_SHAPE(const&)
HAM_FUNCTION_SHAPE(&&)
HAM_FUNCTION_SHAPE(const&&)
HAM_FUNCTION_SHAPE(noexcept)
HAM_FUNCTION_SHAPE(const noexcept)
HAM_FUNCTION_SHAPE(&noexcept)
HAM_FUNCTION_SHAPE(const& noexcept)
HAM_FUNCTION_SHAPE(&&noexcept)
HAM_FUNCTION_SHAPE(const&& noexcept)
#undef HAM_FUNCTION_SHAPE

template <class Object, class Shape>
struct with_object;
template <class Object, class Result, class... Params>
struct with_object<Object, call_shape<Result, Params...>> {
  using type = call_shape<Result, Object, Params...>;
};

/// The function type behind a pointer to a member function.
template <class Object, class Member>
auto member_type(Member Object::*) -> std::type_identity<Member>;

/// Callables whose parameters follow from the call: generic lambdas, overloaded operator().
struct open_shape {};

template <class Callable>
struct shape_of {
  using type = open_shape;
};

template <class Callable>
requires requires { &Callable::operator(); }
struct shape_of<Callable> : function_shape<typename decltype(member_type(&Callable::operator()))::type> {};

template <class Function, Function* Address>
struct shape_of<fn_t<Function*, Address>> : function_shape<Function> {};

template <class Object, class Member, Member Object::*Address>
requires std::is_function_v<Member>
struct shape_of<fn_t<Member Object::*, Address>> : with_object<const Object&, typename function_shape<Member>::type> {
};

template <class Callable>
struct declared_result {
  using type = void;
  static constexpr bool present = false;
};
template <class Callable>
requires requires { typename Callable::result_type; }
struct declared_result<Callable> {
  using type = typename Callable::result_type;
  static constexpr bool present = true;
};

/// A functor's own result_type counts if what it returns converts to it, else what it returns; references are copied.
template <class Callable, class Returned>
using result_of_t = std::remove_cvref_t<std::conditional_t<
    declared_result<Callable>::present && (std::is_void_v<typename declared_result<Callable>::type> ||
                                           std::is_convertible_v<Returned, typename declared_result<Callable>::type>),
    typename declared_result<Callable>::type, Returned>>;

template <class Param>
inline constexpr bool can_cross_by_value =
    !std::is_lvalue_reference_v<Param> || std::is_const_v<std::remove_reference_t<Param>>;

template <class Arg, class Param>
inline constexpr bool argument_fits = std::is_convertible_v<Arg, std::decay_t<Param>>;

template <std::size_t ArgCount, std::size_t ParamCount>
inline constexpr bool argument_count_fits = ArgCount == ParamCount;

template <class Params, class... Args>
inline constexpr bool arguments_fit = false;
template <class... Params, class... Args>
requires(sizeof...(Params) == sizeof...(Args)) inline constexpr bool arguments_fit<std::tuple<Params...>, Args...> =
    (argument_fits<Args, Params> && ...);

template <class Callable, class Shape, class... Args>
struct signature_of;

template <class Callable, class Result, class... Params, class... Args>
struct signature_of<Callable, call_shape<Result, Params...>, Args...> {
  static_assert(argument_count_fits<sizeof...(Args), sizeof...(Params)>,
                "ham: wrong number of arguments for this function (default arguments do not count)");
  static_assert((can_cross_by_value<Params> && ...),
                "ham: a parameter taken by non-const reference cannot cross: the function would change a copy in "
                "another process; take it by value or const reference and return the result");
  static_assert(sizeof...(Args) != sizeof...(Params) || arguments_fit<std::tuple<Params...>, Args...>,
                "ham: an argument cannot be converted to the parameter of this function");
  static constexpr bool fixed = true;
  using result_type = result_of_t<Callable, Result>;
  using parameters = std::tuple<std::decay_t<Params>...>;
};

template <class Callable, class... Args>
struct signature_of<Callable, open_shape, Args...> {
  static_assert(std::is_invocable_v<Callable&, std::decay_t<Args>...>,
                "ham: the callable cannot be called with copies of these arguments (they arrive as temporaries)");
  static constexpr bool fixed = false;
  using result_type = result_of_t<Callable, std::invoke_result_t<Callable&, std::decay_t<Args>...>>;
  using parameters = std::tuple<std::decay_t<Args>...>;
};

template <bool Fixed, class Tag, class Parameters>
struct tag_of;
template <class Tag, class... Params>
struct tag_of<true, Tag, std::tuple<Params...>> {
  using type = call_tag<Tag>;
};
template <class Tag, class... Params>
struct tag_of<false, Tag, std::tuple<Params...>> {
  using type = call_tag<Tag, Params...>;
};

}  // namespace detail

/// True if the parameters follow from the callable alone: functions, ordinary lambdas, function objects with one
/// operator(). For others (generic lambdas, overloaded operator()) they are the decayed argument types of the call.
template <class Callable>
inline constexpr bool has_fixed_parameters_v =
    !std::is_same_v<typename detail::shape_of<core_type_t<Callable>>::type, detail::open_shape>;

/// A call of Callable with arguments of types Args. Callable is a decayed type; Args may be references.
///   result_type   what the call returns, without reference and const; void possible
///   parameters    std::tuple of decayed parameter types: what is encoded and decoded
/// Wrong numbers or types of arguments are compile errors that begin with "ham:".
template <class Callable, class... Args>
struct signature {
  using core_type = core_type_t<Callable>;
  static_assert(!std::is_pointer_v<core_type> && !std::is_member_pointer_v<core_type>,
                "ham: the address of a function means nothing in another process; write ham::fn<&function> or "
                "f2f(&function, arguments...)");
  using checked = detail::signature_of<core_type, typename detail::shape_of<core_type>::type, Args...>;
  using result_type = typename checked::result_type;
  using parameters = typename checked::parameters;
};

/// typeid(tag_for<Callable, Params...>) names the handler of a call of Callable with these (decayed) parameters.
template <class Callable, class... Params>
using tag_for = typename detail::tag_of<has_fixed_parameters_v<Callable>, typename callable_traits<Callable>::tag,
                                        std::tuple<Params...>>::type;

/// Calls the core of a callable with arguments that were decoded for it; each is handed over as a temporary, so
/// parameters by value, const value, const& and && all work.
template <class Core, class... Values>
decltype(auto) invoke_decoded(Core& core, Values&... values) {
  return std::invoke(core, std::move(values)...);
}

}  // namespace ham::msg
