// Verbs that give an error instead of throwing it, also in programs that are compiled with -fno-exceptions.
//
//   auto sum = offload::attempt([&] { return offload::async(1, fn<&add>, 1, 2); });
//   auto room = offload::attempt([&] { return offload::allocate<double>(1, 100); });
//   if (!sum.has_value()) return complain(ham::describe_error(sum.error()));
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "ham/offload/future.hpp"

namespace ham::inline v1::offload {

namespace detail {

/// Calls it within the library, which catches what leaves it; nullptr: nothing has.
[[nodiscard]] std::exception_ptr caught_of(void (*function)(void* with), void* with) noexcept;

template <class Function>
[[nodiscard]] std::exception_ptr caught(Function& function) noexcept {
  return caught_of([](void* with) { (*static_cast<Function*>(with))(); }, &function);
}

/// A future that has failed; invalid if no runtime is up.
[[nodiscard]] call_slot* failed_slot(std::exception_ptr why) noexcept;

}  // namespace detail

/// What `verb()` returns, if that is a future, else a future of it that is ready; if it throws, a future that has
/// failed with that. An invalid future if no runtime is up. Blocks as long as `verb` does. With -fno-exceptions `verb`
/// should hold the call of one verb: what it has constructed itself is not destroyed when the verb fails.
template <class Verb>
auto attempt(Verb&& verb) noexcept -> future<typename detail::unwrapped<std::invoke_result_t<Verb>>::type> {
  using returned = std::invoke_result_t<Verb>;
  using result = typename detail::unwrapped<returned>::type;
  if constexpr (detail::unwrapped<returned>::is_future) {
    returned made;
    auto begin = [&] { made = static_cast<Verb&&>(verb)(); };
    if (std::exception_ptr why = detail::caught(begin); why != nullptr)
      return detail::future_access::make<result>(detail::failed_slot(why));
    return made;
  } else {
    future<result> ready;
    auto run = [&] {
      if constexpr (std::is_void_v<result>) {
        static_cast<Verb&&>(verb)();
        ready = make_ready_future<void>();
      } else {
        ready = make_ready_future<result>(static_cast<Verb&&>(verb)());
      }
    };
    if (std::exception_ptr why = detail::caught(run); why != nullptr)
      return detail::future_access::make<result>(detail::failed_slot(why));
    return ready;
  }
}

}  // namespace ham::offload
