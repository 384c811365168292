// The layout text of a call: callable, parameters and result.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "ham/msg/callable.hpp"
#include "ham/msg/codec.hpp"

namespace ham::msg {

namespace detail {

/// A layout text without the name of the type it begins with, if it begins with one: the handler is named already, and
/// compilers do not agree on the names of lambdas.
[[nodiscard]] inline std::string without_type_name(const std::string& layout) {
  if (layout.starts_with("empty<")) return "empty";
  const auto comma = layout.find(',');
  if (comma == std::string::npos) return layout;
  for (const std::string_view kind : {std::string_view("opaque<"), std::string_view("object<")}) {
    if (layout.starts_with(kind)) return std::string(kind) + layout.substr(comma);
  }
  return layout;
}

}  // namespace detail

/// "callable,parameter,parameter->result" as translation compares it and takes it apart; the result may be "void". What
/// a handler_registrar's Registration returns as layout() of a call.
template <class Callable, class Result, class... Params>
[[nodiscard]] std::string call_layout() {
  std::string text = detail::without_type_name(layout_text<core_type_t<Callable>>());
  if constexpr (sizeof...(Params) > 0) (text += ',') += layout_text<Params...>();
  text += "->";
  if constexpr (std::is_void_v<Result>)
    text += "void";
  else
    text += layout_text<Result>();
  return text;
}

}  // namespace ham::msg
