// A callable bound to all its arguments: what f2f() makes.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/callable.hpp"
#include "ham/msg/codec_core.hpp"
#include "ham/msg/customise.hpp"
#include "ham/msg/signature.hpp"

namespace ham::inline v1 {

/// A call waiting to be made, here or in another process (the functor of papers 1 and 3). Holds the callable and, by
/// value, the arguments, already converted to the parameter types. Copyable and movable as those are.
template <class Callable, class... Params>
class bound {
 public:
  using callable_type = Callable;
  using arguments_type = std::tuple<Params...>;
  using result_type = typename msg::detail::signature_core<msg::core_type_t<Callable>, Params...>::result_type;

  /// Converts the arguments to the parameter types.
  template <class... Args>
  explicit constexpr bound(std::in_place_t, Callable callable, Args&&... args)
      : callable_(std::move(callable)), arguments_(std::forward<Args>(args)...) {}
  /// The same for a callable that is a function's name (ham/functor/function.hpp).
  template <class... Args>
  requires msg::detail::is_fn_v<Callable> &&(sizeof...(Args) == sizeof...(Params)) &&
      std::is_constructible_v<arguments_type, Args...> &&
      (!std::is_same_v<bound, std::remove_cvref_t<Args>> && ...) explicit constexpr bound(Args&&... args)
      : arguments_(std::forward<Args>(args)...) {}

  /// Makes the call here, on copies of the arguments.
  constexpr result_type operator()() const {
    arguments_type copies = arguments_;
    return std::apply(
        [this](auto&... values) -> result_type {
          auto core = msg::core_of(callable_);
          return static_cast<result_type>(msg::invoke_decoded(core, values...));
        },
        copies);
  }

  [[nodiscard]] constexpr const Callable& callable() const noexcept { return callable_; }
  [[nodiscard]] constexpr const arguments_type& arguments() const& noexcept { return arguments_; }
  [[nodiscard]] constexpr arguments_type&& arguments() && noexcept { return std::move(arguments_); }

 private:
  [[no_unique_address]] Callable callable_;
  arguments_type arguments_;
};

namespace msg::detail {
template <class... Parts>
inline constexpr bool all_storable_v = (storable_v<Parts> && ...);
}

/// As an argument of another call it crosses by its bytes, unless they hold what does not cross or is not copied so.
template <class Callable, class... Params>
struct is_bitwise_copyable<bound<Callable, Params...>>
    : std::bool_constant<msg::detail::all_storable_v<Callable, Params...> &&
                         msg::detail::byte_copies_of<bound<Callable, Params...>>() != msg::detail::byte_copies::none> {
};

namespace msg::detail {

template <class Value>
Value never();

template <class Callable, class Parameters>
struct bound_for;
template <class Callable, class... Params>
struct bound_for<Callable, std::tuple<Params...>> {
  using type = bound<Callable, Params...>;
};

}  // namespace msg::detail

/// The bound type of a call of Callable with arguments of types Args.
template <class Callable, class... Args>
using bound_t = typename msg::detail::bound_for<
    Callable, typename msg::detail::signature_core<msg::core_type_t<Callable>, Args...>::parameters>::type;

/// Binds any callable: bind_call(lambda, 1, 2.0). Functions are bound with f2f.
template <class Callable, class... Args>
[[nodiscard]] constexpr bound_t<std::decay_t<Callable>, Args...> bind_call(Callable&& callable, Args&&... args) {
  using made = bound_t<std::decay_t<Callable>, Args...>;
  using signature = msg::detail::signature_core<msg::core_type_t<std::decay_t<Callable>>, Args...>;
  if constexpr (signature::valid) {
    return made(std::in_place, std::forward<Callable>(callable), std::forward<Args>(args)...);
  } else {
    [[maybe_unused]] typename signature::report error;
    return msg::detail::never<made>();
  }
}

/// named() and with_policy() of a bound call apply to its callable.
template <msg::key_text Key, class Callable, class... Params>
[[nodiscard]] constexpr auto named(bound<Callable, Params...> call) {
  return std::apply(
      [&call](auto&... values) {
        using renamed = bound<named_callable<Key, Callable>, Params...>;
        return renamed(std::in_place, named<Key>(call.callable()), std::move(values)...);
      },
      const_cast<std::tuple<Params...>&>(call.arguments()));
}
template <template <class> class Policy, class Callable, class... Params>
[[nodiscard]] constexpr auto with_policy(bound<Callable, Params...> call) {
  return std::apply(
      [&call](auto&... values) {
        using changed = bound<policy_callable<Policy, Callable>, Params...>;
        return changed(std::in_place, with_policy<Policy>(call.callable()), std::move(values)...);
      },
      const_cast<std::tuple<Params...>&>(call.arguments()));
}

}  // namespace ham
