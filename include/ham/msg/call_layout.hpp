// The layout text of a call: callable, parameters and result.
#pragma once

#include <span>
#include <string>
#include <type_traits>

#include "ham/msg/callable.hpp"
#include "ham/msg/codec.hpp"

namespace ham::inline v1::msg {

namespace detail {

/// nullptr for what has no text of its own.
template <class Value>
[[nodiscard]] constexpr layout_writer layout_writer_of() noexcept {
  if constexpr (std::is_void_v<Value> || is_fn_v<Value>)
    return nullptr;
  else
    return &append_layout<Value>;
}

/// Writes "callable,parameter,parameter->result": `writers` are those of the callable, of each parameter and of the
/// result; nullptr for a callable that is a function, and for no result.
[[nodiscard]] std::string join_call_layout(std::span<const layout_writer> writers);

}  // namespace detail

/// "callable,parameter,parameter->result" as translation compares it and takes it apart; the result may be "void". What
/// a handler_registrar's Registration returns as layout() of a call.
template <class Callable, class Result, class... Params>
[[nodiscard]] std::string call_layout() {
  static constexpr detail::layout_writer writers[] = {detail::layout_writer_of<core_type_t<Callable>>(),
                                                      detail::layout_writer_of<Params>()...,
                                                      detail::layout_writer_of<Result>()};
  return detail::join_call_layout(writers);
}

}  // namespace ham::msg
