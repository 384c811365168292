// Callables that may run more than once: idempotent(fn<&f>).
#pragma once

#include <type_traits>

#include "ham/msg/callable.hpp"

namespace ham::inline v1 {

/// A callable whose calls may be repeated; see idempotent().
template <class Callable>
struct idempotent_callable {
  [[no_unique_address]] Callable callable;  ///< what is called

  /// Calls it here, once.
  template <class... Args>
  requires std::is_invocable_v<const Callable&, Args...>
  constexpr std::invoke_result_t<const Callable&, Args...> operator()(Args&&... args) const {
    return callable(static_cast<Args&&>(args)...);
  }
};

namespace msg {

/// What crosses, its name and its policy are those of the callable itself: the other node knows nothing of it.
template <class Callable>
struct callable_traits<idempotent_callable<Callable>> : callable_traits<Callable> {
  /// What crosses, within `callable`.
  static constexpr const typename callable_traits<Callable>::core_type& core(
      const idempotent_callable<Callable>& callable) noexcept {
    return callable_traits<Callable>::core(callable.callable);
  }
};

/// Whether calls of it may be repeated; named(), pooled() and with_policy() may go around idempotent().
template <class Callable>
inline constexpr bool is_idempotent_v = false;
template <class Callable>
inline constexpr bool is_idempotent_v<idempotent_callable<Callable>> = true;
template <key_text Key, class Callable>
inline constexpr bool is_idempotent_v<named_callable<Key, Callable>> = is_idempotent_v<Callable>;
template <template <class> class Policy, class Callable>
inline constexpr bool is_idempotent_v<policy_callable<Policy, Callable>> = is_idempotent_v<Callable>;

namespace detail {

/// The same callable without it.
template <class Callable>
struct once {
  using type = Callable;
};
template <class Callable>
struct once<idempotent_callable<Callable>> : once<Callable> {};
template <key_text Key, class Callable>
struct once<named_callable<Key, Callable>> {
  using type = named_callable<Key, typename once<Callable>::type>;
};
template <template <class> class Policy, class Callable>
struct once<policy_callable<Policy, Callable>> {
  using type = policy_callable<Policy, typename once<Callable>::type>;
};

}  // namespace detail

/// One handler with and without it: the policy is a part of the handler's type.
template <class Callable>
requires is_idempotent_v<Callable>
struct policy_of<Callable> : policy_of<typename detail::once<Callable>::type> {
};

}  // namespace msg

/// Says that running the callable again does the same as running it once, also if the first run was cut short or goes
/// on elsewhere. offload::pool then repeats its calls on another node when theirs is lost, even if they may have run.
/// The verbs that name their node (sync, async, ...) repeat nothing.
template <class Callable>
requires(!msg::is_bound_v<std::decay_t<Callable>>)
    [[nodiscard]] constexpr idempotent_callable<std::decay_t<Callable>> idempotent(Callable&& callable) {
  return {static_cast<Callable&&>(callable)};
}

}  // namespace ham
