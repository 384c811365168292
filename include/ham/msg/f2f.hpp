// f2f, "function to functor": binds a function and its arguments into an object that can be offloaded (papers 1 and 3).
#pragma once

#include <type_traits>
#include <utility>

#include "ham/msg/bound.hpp"
#include "ham/msg/callable.hpp"

/// What the macro f2f stands for. Global, and visible in the namespaces of ham, so that f2f(...), ham::f2f(...) and
/// offload::f2f(...) all name it, with and without using directives. The type of the function comes first, because some
/// front ends stumble over an `auto` parameter given a cast; in two steps, so that the macro makes no comma that
/// another macro around it would see.
template <class Pointer>
struct ham_f2f_ {
  /// The functor of Function with these arguments, converted to its parameters; for the macro. What does not fit does
  /// not compile.
  template <std::decay_t<Pointer> Function, class... Args>
  [[nodiscard]] static constexpr auto bind(Args&&... args)
      -> ham::bound_t<ham::fn_t<std::decay_t<Pointer>, Function>, Args...> {
    using callable = ham::fn_t<std::decay_t<Pointer>, Function>;
    using made = ham::bound_t<callable, Args...>;
    using signature = ham::msg::detail::signature_core<callable, Args...>;
    if constexpr (signature::valid) {
      return made(std::in_place, callable{}, std::forward<Args>(args)...);
    } else {
      [[maybe_unused]] typename signature::report error;
      return ham::msg::detail::never<made>();
    }
  }
};

namespace ham::inline v1 {
/// f2f<&function>(arguments...): the same without the macro.
template <auto Function, class... Args>
[[nodiscard]] constexpr auto f2f(Args&&... args) -> bound_t<fn_t<std::decay_t<decltype(Function)>, Function>, Args...> {
  return bind_call(fn<Function>, std::forward<Args>(args)...);
}
using ::ham_f2f_;
namespace msg {
using ::ham_f2f_;
using ::ham::f2f;
}  // namespace msg
namespace offload {
using ::ham_f2f_;
using ::ham::f2f;
}  // namespace offload
}  // namespace ham

/// f2f(&function, arguments...): a functor of the call, with the arguments converted to the parameter types; any
/// number of them. A function template with several template arguments needs parentheses: f2f((&fun<A, B>), x). With
/// HAM_NO_F2F_MACRO defined before any header of HAM there is no macro, for programs in which that name is another's;
/// f2f<&function>(arguments...) and ham::fn<&function> say the same.
#ifndef HAM_NO_F2F_MACRO
#define f2f(FUNCTION, ...) ham_f2f_<decltype(FUNCTION)>::template bind<FUNCTION>(__VA_ARGS__)
#endif
