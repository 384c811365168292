// Functions of the library whose calls no stop and no deadline takes back once they have been sent.
#pragma once

#include <type_traits>

#include "ham/offload/call.hpp"

namespace ham::inline v1::detail {

template <class Callable, class Result, class... Params>
void run_always(std::type_identity<msg::detail::call_shape<Result, Params...>>) {
  offload::detail::call_of<Callable, std::decay_t<Params>...>::message::entry().run_always();
}

/// For a namespace-scope constant: always_run(fn<&free_here>, ...). Always true.
template <class... Callables>
bool always_run(const Callables&...) {
  (run_always<Callables>(std::type_identity<typename msg::detail::shape_of<msg::core_type_t<Callables>>::type>()), ...);
  return true;
}

}  // namespace ham::detail
