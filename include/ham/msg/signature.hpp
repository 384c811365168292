// Which parameters and which result an offloaded call has, and the checks that it can be made.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/callable.hpp"
#include "ham/msg/codec.hpp"

namespace ham::inline v1::msg {

namespace detail {

/// Result and parameter list of a function.
template <class Result, class... Params>
struct call_shape {};

/// Result of a function with C variadic arguments.
template <class Result>
struct variadic_shape {};

template <class Function>
struct function_shape;

// Every way to qualify a function type; there is no way to match them together.
#define HAM_FUNCTION_SHAPE(QUALIFIERS)                       \
  template <class Result, class... Params>                   \
  struct function_shape<Result(Params...) QUALIFIERS> {      \
    using type = call_shape<Result, Params...>;              \
  };                                                         \
  template <class Result, class... Params>                   \
  struct function_shape<Result(Params..., ...) QUALIFIERS> { \
    using type = variadic_shape<Result>;                     \
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
template <class Object, class Result>
struct with_object<Object, variadic_shape<Result>> {
  using type = variadic_shape<Result>;
};

/// The function type behind a pointer to a member function.
template <class Object, class Member>
auto member_type(Member Object::*) -> std::type_identity<Member>;

template <class Callable>
inline constexpr bool has_fixed_argument_list = false;

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
inline constexpr bool argument_fits = can_cross_by_value<Param>&& std::is_convertible_v<Arg, std::decay_t<Param>>;

template <std::size_t ArgCount, std::size_t ParamCount>
inline constexpr bool argument_count_fits = ArgCount == ParamCount;

/// What makes a call impossible is told by instantiating the reports below.
struct nothing_to_report {};
template <std::size_t>
struct nothing_to_report_at {};

/// Stands for a result that is not known, because of an error that is told elsewhere.
struct unknown_result {
  template <class Wanted>
  operator Wanted() const;
};

/// The error about one argument. What can be neither copied nor moved does not even convert to itself: that is told
/// before.
template <std::size_t Place, class Arg, class Param>
struct error_of_argument
    : std::conditional_t<
          !can_cross_by_value<Param>, std::type_identity<parameter_is_reference<Param, Place>>,
          std::conditional_t<!crosses<std::decay_t<Param>>, crossing_error<std::decay_t<Param>, Place>,
                             std::type_identity<argument_does_not_fit<Arg, std::decay_t<Param>, Place>>>> {};

template <std::size_t Index, class Arg, class Param>
using argument_report =
    typename std::conditional_t<argument_fits<Arg, Param>, std::type_identity<nothing_to_report_at<Index>>,
                                error_of_argument<place_of_argument(Index), Arg, Param>>::type;

template <class Indices, class Params, class... Args>
struct arguments_report;
template <std::size_t... Index, class... Params, class... Args>
struct arguments_report<std::index_sequence<Index...>, call_shape<void, Params...>, Args...>
    : argument_report<Index, Args, Params>... {};

template <std::size_t ArgCount, std::size_t ParamCount>
struct count_report {
  static_assert(argument_count_fits<ArgCount, ParamCount>,
                "ham: wrong number of arguments for this function (default arguments do not count)");
};

template <class Params, class... Args>
struct arguments_check;
template <class... Params, class... Args>
requires(sizeof...(Params) == sizeof...(Args)) struct arguments_check<call_shape<void, Params...>, Args...> {
  static constexpr bool valid = (argument_fits<Args, Params> && ...);
  using report = arguments_report<std::index_sequence_for<Params...>, call_shape<void, Params...>, Args...>;
};
template <class... Params, class... Args>
requires(sizeof...(Params) != sizeof...(Args)) struct arguments_check<call_shape<void, Params...>, Args...> {
  static constexpr bool valid = false;
  using report = count_report<sizeof...(Args), sizeof...(Params)>;
};

/// Parameters and result of a call, and whether it can be made; `report` says why not.
template <class Callable, class Shape, class... Args>
struct signature_of;

template <class Callable, class Result, class... Params, class... Args>
struct signature_of<Callable, call_shape<Result, Params...>, Args...>
    : arguments_check<call_shape<void, Params...>, Args...> {
  using result_type = result_of_t<Callable, Result>;
  using parameters = std::tuple<std::decay_t<Params>...>;
};

template <class Callable, class... Args>
struct open_report {
  static_assert(std::is_invocable_v<Callable&, std::decay_t<Args>...>,
                "ham: the callable cannot be called with copies of these arguments (they arrive as temporaries)");
};
template <class Callable, class... Args>
struct open_result {
  using type = result_of_t<Callable, std::invoke_result_t<Callable&, std::decay_t<Args>...>>;
};

template <class Callable, class... Args>
struct signature_of<Callable, open_shape, Args...> {
  static constexpr bool valid = std::is_invocable_v<Callable&, std::decay_t<Args>...>;
  using report = open_report<Callable, Args...>;
  using result_type =
      typename std::conditional_t<valid, open_result<Callable, Args...>, std::type_identity<unknown_result>>::type;
  using parameters = std::tuple<std::decay_t<Args>...>;
};

template <class Callable>
struct variadic_report {
  static_assert(has_fixed_argument_list<Callable>,
                "ham: a function with C variadic arguments (...) cannot be called on another node: what it is given "
                "depends on the call. Wrap it in a function or a lambda with the parameters that you need");
};

template <class Callable, class Result, class... Args>
struct signature_of<Callable, variadic_shape<Result>, Args...> {
  static constexpr bool valid = false;
  using report = variadic_report<Callable>;
  using result_type = result_of_t<Callable, Result>;
  using parameters = std::tuple<>;
};

template <class Callable>
struct address_report {
  static_assert(!std::is_pointer_v<Callable> && !std::is_member_pointer_v<Callable>,
                "ham: the address of a function means nothing in another process; write ham::fn<&function> or "
                "f2f(&function, arguments...)");
};
struct address_shape {};
template <class Callable, class... Args>
struct signature_of<Callable, address_shape, Args...> {
  static constexpr bool valid = false;
  using report = address_report<Callable>;
  using result_type = unknown_result;
  using parameters = std::tuple<>;
};

/// The signature, without a word if the call cannot be made.
template <class Callable, class... Args>
using signature_core =
    signature_of<Callable,
                 typename std::conditional_t<std::is_pointer_v<Callable> || std::is_member_pointer_v<Callable>,
                                             std::type_identity<address_shape>, shape_of<Callable>>::type,
                 Args...>;

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
///   valid         whether the call can be made
/// Wrong numbers or types of arguments are compile errors that begin with "ham:".
template <class Callable, class... Args>
struct signature
    : std::conditional_t<detail::signature_core<core_type_t<Callable>, Args...>::valid, detail::nothing_to_report,
                         typename detail::signature_core<core_type_t<Callable>, Args...>::report> {
  using core_type = core_type_t<Callable>;
  using checked = detail::signature_core<core_type, Args...>;
  static constexpr bool valid = checked::valid;
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
  return core(std::move(values)...);
}

}  // namespace ham::msg
