// ham::function: the functor type behind f2f, spelt as in the published HAM-Offload.
#pragma once

#include <type_traits>

#include "ham/msg/bound.hpp"
#include "ham/msg/callable.hpp"
#include "ham/msg/f2f.hpp"

namespace ham::inline v1 {
namespace msg::detail {

template <class Pointer, Pointer Function>
struct function_functor;
template <class Result, class... Params, Result (*Function)(Params...)>
struct function_functor<Result (*)(Params...), Function> {
  using type = bound_t<fn_t<Result (*)(Params...), Function>, Params...>;
};
template <class Result, class... Params, Result (*Function)(Params...) noexcept>
struct function_functor<Result (*)(Params...) noexcept, Function> {
  using type = bound_t<fn_t<Result (*)(Params...) noexcept, Function>, Params...>;
};

}  // namespace msg::detail

/// What f2f(&f, args...) makes: function<decltype(&f), &f>(args...) converts the arguments to the parameter types and
/// holds them by value. It has result_type and operator(), which makes the call here; sync, async and ping make it
/// elsewhere.
template <class Pointer, std::decay_t<Pointer> Function>
using function = typename msg::detail::function_functor<std::decay_t<Pointer>, Function>::type;

}  // namespace ham
