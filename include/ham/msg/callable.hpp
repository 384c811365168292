// What can be called remotely: functions as types (fn), named callables, and callables with an execution policy.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "ham/msg/execution_policy.hpp"

namespace ham::inline v1 {

namespace msg::detail {

/// std::invoke of a member, without the heavy header of that.
template <class Class, class Member, class Object, class... Args>
constexpr decltype(auto) invoke_member(Member Class::*member, Object&& object, Args&&... args) {
  constexpr bool direct = std::is_base_of_v<Class, std::remove_reference_t<Object>>;
  if constexpr (std::is_function_v<Member> && direct) {
    return (std::forward<Object>(object).*member)(std::forward<Args>(args)...);
  } else if constexpr (std::is_function_v<Member>) {
    return ((*std::forward<Object>(object)).*member)(std::forward<Args>(args)...);
  } else if constexpr (direct) {
    return (std::forward<Object>(object).*member);
  } else {
    return ((*std::forward<Object>(object)).*member);
  }
}

}  // namespace msg::detail

/// A function as an empty object: its address is part of the type, so that each node uses its own (paper 3, section
/// 3.2). Use it through fn<&function>. Callable where it stands, too. Member functions take the object first.
template <class Pointer, Pointer Function>
struct fn_t {
  /// Calls the function here, at once.
  template <class... Args>
  requires std::is_invocable_v<Pointer, Args...>
  constexpr std::invoke_result_t<Pointer, Args...> operator()(Args&&... args) const
      noexcept(std::is_nothrow_invocable_v<Pointer, Args...>) {
    if constexpr (std::is_member_pointer_v<Pointer>)
      return msg::detail::invoke_member(Function, std::forward<Args>(args)...);
    else
      return Function(std::forward<Args>(args)...);
  }
};

// Functions that are no members, which nearly all are: less for the compiler to do.
template <class Result, class... Params, Result (*Function)(Params...)>
struct fn_t<Result (*)(Params...), Function> {
  constexpr Result operator()(Params... args) const { return Function(static_cast<Params&&>(args)...); }
};
template <class Result, class... Params, Result (*Function)(Params...) noexcept>
struct fn_t<Result (*)(Params...) noexcept, Function> {
  constexpr Result operator()(Params... args) const noexcept { return Function(static_cast<Params&&>(args)...); }
};

namespace msg::detail {
template <class Callable>
inline constexpr bool is_fn_v = false;
template <class Pointer, Pointer Function>
inline constexpr bool is_fn_v<fn_t<Pointer, Function>> = true;
}  // namespace msg::detail

/// fn<&function>: free functions, static member functions, instances of function templates, noexcept functions,
/// overloaded ones by static_cast, member functions.
template <auto Function>
inline constexpr fn_t<std::decay_t<decltype(Function)>, Function> fn{};

namespace msg {

/// The text of a named<"..."> key as template argument.
template <std::size_t Size>
struct key_text {
  char text[Size]{};  ///< with the zero at its end
  /// Of a literal.
  // NOLINTNEXTLINE(google-explicit-constructor): a literal must convert
  consteval key_text(const char (&literal)[Size]) {
    for (std::size_t at = 0; at < Size; ++at) text[at] = literal[at];
  }
};

/// Names a call by a key. Numbers instead of a string, because every compiler and demangler agrees on those.
template <unsigned char... Characters>
struct key_tag {};

/// Names a call that runs under a policy.
template <template <class> class Policy, class Tag>
struct policy_tag {};

/// The type whose typeid names the handler of a call. Params are there only where the callable does not fix them.
template <class Tag, class... Params>
struct call_tag {};

}  // namespace msg

/// A callable together with all its arguments; see bound.hpp.
template <class Callable, class... Params>
class bound;

namespace msg {

/// True for what fn<&function> is.
template <class Callable>
inline constexpr bool is_fn_v = false;
template <class Pointer, Pointer Function>
inline constexpr bool is_fn_v<fn_t<Pointer, Function>> = true;

/// True for bound<...>.
template <class Callable>
inline constexpr bool is_bound_v = false;
template <class Callable, class... Params>
inline constexpr bool is_bound_v<bound<Callable, Params...>> = true;

}  // namespace msg

/// A callable whose handler has the name Key; see named().
template <msg::key_text Key, class Callable>
struct named_callable {
  [[no_unique_address]] Callable callable;  ///< what is called

  /// Calls it here, at once.
  template <class... Args>
  requires std::is_invocable_v<const Callable&, Args...>
  constexpr std::invoke_result_t<const Callable&, Args...> operator()(Args&&... args) const {
    return callable(std::forward<Args>(args)...);
  }
};

/// A callable that runs under an execution policy of its own; see with_policy().
template <template <class> class Policy, class Callable>
struct policy_callable {
  [[no_unique_address]] Callable callable;  ///< what is called

  /// Calls it here, at once.
  template <class... Args>
  requires std::is_invocable_v<const Callable&, Args...>
  constexpr std::invoke_result_t<const Callable&, Args...> operator()(Args&&... args) const {
    return callable(std::forward<Args>(args)...);
  }
};

namespace msg {

/// How a callable is taken apart: core_type is what crosses and is called, tag what names it, policy how it runs.
template <class Callable>
struct callable_traits {
  using core_type = Callable;  ///< without wrappers
  using tag = Callable;        ///< a type that stands for its name
  /// How messages of it run.
  template <class Message>
  using policy = default_execution_policy<Message>;
  /// What crosses, within `callable`.
  static constexpr const core_type& core(const Callable& callable) noexcept { return callable; }
};

namespace detail {
template <key_text Key, std::size_t... Index>
auto key_tag_of(std::index_sequence<Index...>) -> key_tag<static_cast<unsigned char>(Key.text[Index])...>;
}  // namespace detail

template <key_text Key, class Callable>
struct callable_traits<named_callable<Key, Callable>> {
  static_assert(sizeof(Key.text) > 1, "ham: the name given to named<\"...\"> must not be empty");
  using inner = callable_traits<Callable>;
  using core_type = typename inner::core_type;
  using tag = decltype(detail::key_tag_of<Key>(std::make_index_sequence<sizeof(Key.text) - 1>{}));
  template <class Message>
  using policy = typename inner::template policy<Message>;
  static constexpr const core_type& core(const named_callable<Key, Callable>& callable) noexcept {
    return inner::core(callable.callable);
  }
};

template <template <class> class Policy, class Callable>
struct callable_traits<policy_callable<Policy, Callable>> {
  using inner = callable_traits<Callable>;
  using core_type = typename inner::core_type;
  using tag = policy_tag<Policy, typename inner::tag>;
  template <class Message>
  using policy = Policy<Message>;
  static constexpr const core_type& core(const policy_callable<Policy, Callable>& callable) noexcept {
    return inner::core(callable.callable);
  }
};

/// The callable without the wrappers of named() and with_policy(): this is what is encoded, decoded and invoked.
template <class Callable>
using core_type_t = typename callable_traits<Callable>::core_type;

/// That part of `callable`, which must outlive the reference.
template <class Callable>
[[nodiscard]] constexpr const core_type_t<Callable>& core_of(const Callable& callable) noexcept {
  return callable_traits<Callable>::core(callable);
}

/// policy_of<Callable>::type<Message>: the execution policy of a call of Callable, direct unless with_policy() says so.
template <class Callable>
struct policy_of {
  /// The policy for one type of messages.
  template <class Message>
  using type = typename callable_traits<Callable>::template policy<Message>;
};

}  // namespace msg

/// Gives a callable a name that every compiler agrees on: named<"solve">([](int k) { ... }). Needed for lambdas that
/// nodes built by different compilers shall share. The name must be unique in the program; two callables under one
/// name are duplicates: an error when one is used.
template <msg::key_text Key, class Callable>
requires(!msg::is_bound_v<std::decay_t<Callable>>)
    [[nodiscard]] constexpr named_callable<Key, std::decay_t<Callable>> named(Callable&& callable) {
  return {std::forward<Callable>(callable)};
}

/// Selects the execution policy of an offloaded call: with_policy<my_policy>(fn<&f>).
template <template <class> class Policy, class Callable>
requires(!msg::is_bound_v<std::decay_t<Callable>>)
    [[nodiscard]] constexpr policy_callable<Policy, std::decay_t<Callable>> with_policy(Callable&& callable) {
  return {std::forward<Callable>(callable)};
}

/// The call runs on the thread pool of its node: short for with_policy<execution_policy_pooled>(callable).
template <class Callable>
[[nodiscard]] constexpr auto pooled(Callable&& callable) {
  return with_policy<msg::execution_policy_pooled>(std::forward<Callable>(callable));
}

}  // namespace ham
