// Any value as text, so that what a target sees can be compared with what the host sees: a value that is turned round
// on its way and turned round again on its way back would compare equal.
#pragma once

#include <algorithm>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ham::inline v1::isa {

template <class T>
concept tuple_like = requires {
  std::tuple_size<T>::value;
};

// Declared first, because a part of one may be any other.
template <class T>
std::string text_of(const T& value);
template <class T>
std::string text_of(const std::optional<T>& value);
template <class... Ts>
std::string text_of(const std::variant<Ts...>& value);
template <class T>
std::string text_of(const std::complex<T>& value);
template <class Rep, class Period>
std::string text_of(const std::chrono::duration<Rep, Period>& value);
template <class Clock, class Duration>
std::string text_of(const std::chrono::time_point<Clock, Duration>& value);
template <std::size_t N>
std::string text_of(const std::bitset<N>& value);
inline std::string text_of(const std::filesystem::path& value) { return value.string(); }
inline std::string text_of(std::monostate) { return "nothing"; }
inline std::string text_of(std::nullptr_t) { return "null"; }

template <class T>
std::string text_of_number(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", static_cast<double>(value));
    return text;
  } else if constexpr (std::is_signed_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else {
    return std::to_string(static_cast<unsigned long long>(value));
  }
}

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? "some " + text_of(*value) : "none";
}
template <class... Ts>
std::string text_of(const std::variant<Ts...>& value) {
  return std::to_string(value.index()) + ":" + std::visit([](const auto& one) { return text_of(one); }, value);
}
template <class T>
std::string text_of(const std::complex<T>& value) {
  return text_of(value.real()) + "+i" + text_of(value.imag());
}
template <class Rep, class Period>
std::string text_of(const std::chrono::duration<Rep, Period>& value) {
  return text_of(value.count());
}
template <class Clock, class Duration>
std::string text_of(const std::chrono::time_point<Clock, Duration>& value) {
  return text_of(value.time_since_epoch());
}
template <std::size_t N>
std::string text_of(const std::bitset<N>& value) {
  return value.to_string();
}
template <class T>
std::string text_of(const T& value) {
  if constexpr (requires { value.as_text(); }) {
    return value.as_text();
  } else if constexpr (std::is_same_v<T, char>) {  // its sign differs between instruction sets
    return std::to_string(static_cast<unsigned>(static_cast<unsigned char>(value)));
  } else if constexpr (std::is_enum_v<T>) {
    return text_of_number(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return text_of_number(value);
  } else if constexpr (requires { value.begin() == value.end(); }) {
    std::vector<std::string> texts;
    for (const auto& one : value) texts.push_back(text_of(static_cast<const typename T::value_type&>(one)));
    if constexpr (requires { value.bucket_count(); }) std::sort(texts.begin(), texts.end());
    std::string text = "[";
    for (const std::string& one : texts) text += one + " ";
    return text + "]";
  } else {
    static_assert(tuple_like<T>, "text_of does not know this type");
    return std::apply([](const auto&... parts) { return "(" + ((text_of(parts) + " ") + ... + std::string(")")); },
                      value);
  }
}

}  // namespace ham::isa
