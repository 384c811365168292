// Codecs of numbers, enumerations, arrays, and of objects that cross as their bytes.
#pragma once

#include <array>
#include <complex>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "ham/msg/codec_core.hpp"
#include "ham/msg/layout.hpp"
#include "ham/msg/object_layout.hpp"

namespace ham::msg::detail {

inline constexpr bool little_endian = std::endian::native == std::endian::little;

template <std::size_t Size>
struct fixed_codec {
  static constexpr bool valid = true;
  static constexpr bool fixed = true;
  static constexpr std::size_t fixed_size = Size;
  static constexpr std::size_t min_size = Size;
  static constexpr bool bulk = false;
};

template <std::size_t MinSize>
struct varying_codec {
  static constexpr bool fixed = false;
  static constexpr std::size_t min_size = MinSize;
  static constexpr bool bulk = false;
};

// x87's long double has ten bytes of value, the rest of its object is padding.
template <class T>
inline constexpr std::size_t number_size_v = std::numeric_limits<T>::digits == 64 && std::is_floating_point_v<T>
                                                 ? 10
                                                 : sizeof(T);

template <class T>
requires std::is_arithmetic_v<T>
struct standard_codec<T> : fixed_codec<number_size_v<T>> {
  static constexpr bool bulk =
      number_size_v<T> == sizeof(T) && !std::is_same_v<T, bool> && (little_endian || sizeof(T) == 1);

  static void write(writer& to, T value) noexcept {
    if constexpr (number_size_v<T> == sizeof(T)) {
      to.number(value);
    } else {
      to.bytes(&value, number_size_v<T>);
    }
  }
  static T read(reader& from) {
    if constexpr (std::is_same_v<T, bool>) {
      return from.flag();
    } else if constexpr (number_size_v<T> == sizeof(T)) {
      return from.template number<T>();
    } else {
      T value = 0;
      from.bytes(&value, number_size_v<T>);
      return value;
    }
  }
  static void layout(std::string& to) {
    if constexpr (std::is_same_v<T, bool>) {
      to += "bool";
    } else if constexpr (std::is_same_v<T, char>) {
      to += "char";
    } else if constexpr (std::is_same_v<T, wchar_t>) {
      append(to, "wchar", std::to_string(sizeof(T)));
    } else if constexpr (std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>) {
      append(to, "char", std::to_string(8 * sizeof(T)));
    } else if constexpr (std::is_integral_v<T>) {
      append(to, std::is_signed_v<T> ? "i" : "u", std::to_string(sizeof(T)));
    } else if constexpr (std::numeric_limits<T>::digits == 64) {
      to += "f80";
    } else if constexpr (std::numeric_limits<T>::digits == 113) {
      to += "f128";
    } else if constexpr (std::numeric_limits<T>::digits == 106) {
      to += "f128dd";
    } else {
      append(to, "f", std::to_string(sizeof(T)));
    }
  }
};

template <class T>
requires std::is_enum_v<T>
struct standard_codec<T> : fixed_codec<sizeof(T)> {
  using number = std::underlying_type_t<T>;
  static constexpr bool bulk = standard_codec<number>::bulk;

  static void write(writer& to, T value) noexcept { to.number(static_cast<number>(value)); }
  static T read(reader& from) { return static_cast<T>(standard_codec<number>::read(from)); }
  static void layout(std::string& to) { append(to, "enum<", layout_text<number>(), ">"); }
};

template <>
struct standard_codec<std::nullptr_t> : fixed_codec<0> {
  static void write(writer&, std::nullptr_t) noexcept {}
  static std::nullptr_t read(reader&) noexcept { return nullptr; }
  static void layout(std::string& to) { to += "null"; }
};

template <class T>
struct standard_codec<std::complex<T>> : fixed_codec<2 * number_size_v<T>> {
  static constexpr bool valid = std::is_floating_point_v<T>;
  static constexpr bool bulk = standard_codec<T>::bulk;

  static void write(writer& to, const std::complex<T>& value) noexcept {
    standard_codec<T>::write(to, value.real());
    standard_codec<T>::write(to, value.imag());
  }
  static std::complex<T> read(reader& from) {
    const T real = standard_codec<T>::read(from);
    return {real, standard_codec<T>::read(from)};
  }
  static void layout(std::string& to) { append(to, "complex<", layout_text<T>(), ">"); }
};

template <class T>
inline void write_elements(writer& to, const T* elements, std::size_t count) {
  if constexpr (codec_for<T>::bulk) {
    to.bytes(elements, count * sizeof(T));
  } else {
    for (std::size_t i = 0; i < count; ++i) encode(to, elements[i]);
  }
}

template <class T>
inline void read_elements(reader& from, T* elements, std::size_t count) {
  if constexpr (codec_for<T>::bulk && std::is_trivially_copyable_v<T>) {
    from.bytes(static_cast<void*>(elements), count * sizeof(T));
  } else {
    for (std::size_t i = 0; i < count; ++i) decode_into(from, elements[i]);
  }
}

/// What C arrays and std::array share: N elements without a count.
template <class T, std::size_t N>
struct array_codec {
  static constexpr bool valid = storable_v<T>;
  static constexpr bool fixed = N == 0 || codec_for<T>::fixed;
  static constexpr std::size_t min_size = N * codec_for<T>::min_size;
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = N != 0 && codec_for<T>::bulk;

  static constexpr std::size_t size_of_elements(const T* elements) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < N; ++i) sum += encoded_size(elements[i]);
    return sum;
  }
  static void layout(std::string& to) { append(to, "array<", layout_text<T>(), ",", std::to_string(N), ">"); }
};

template <class T, std::size_t N>
struct standard_codec<T[N]> : array_codec<T, N> {
  static constexpr std::size_t size(const T (&value)[N]) { return array_codec<T, N>::size_of_elements(value); }
  static void write(writer& to, const T (&value)[N]) { write_elements(to, value, N); }
  static void read_into(reader& from, T (&value)[N]) { read_elements(from, value, N); }
};

template <class T, std::size_t N>
struct standard_codec<std::array<T, N>> : array_codec<T, N> {
  static constexpr std::size_t size(const std::array<T, N>& value) {
    return array_codec<T, N>::size_of_elements(value.data());
  }
  static void write(writer& to, const std::array<T, N>& value) {
    if constexpr (N != 0) write_elements(to, value.data(), N);
  }
  static std::array<T, N> read(reader& from) {
    if constexpr (N == 0) {
      return {};
    } else if constexpr (std::is_default_constructible_v<T>) {
      std::array<T, N> value;
      read_elements(from, value.data(), N);
      return value;
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<T, N>{{(static_cast<void>(I), decode<T>(from))...}};
      }
      (std::make_index_sequence<N>());
    }
  }
};

/// Makes a T from the bytes of one. T's own constructor runs only if the bytes alone do not make an object: for
/// polymorphic classes it sets the virtual table pointer of this process, which copy constructors never read.
template <class T>
inline T object_from_bytes(const std::byte* from) {
  if constexpr (std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>) {
    T object;
    std::memcpy(static_cast<void*>(std::addressof(object)), from, sizeof(T));
    return object;
  } else {
    alignas(T) std::byte storage[sizeof(T)];
    std::memcpy(storage, from, sizeof(T));
    T& image = *std::launder(reinterpret_cast<T*>(storage));
    if constexpr (std::is_copy_constructible_v<T>) {
      return T(static_cast<const T&>(image));
    } else {
      return T(std::move(image));
    }
  }
}

template <class T>
inline constexpr std::size_t object_size_v = std::is_empty_v<T> ? 0 : sizeof(T);

template <class T>
struct object_codec : fixed_codec<object_size_v<T>> {
  static constexpr bool bulk = std::is_trivially_copyable_v<T> && object_size_v<T> != 0;

  static void write(writer& to, const T& value) noexcept { to.bytes(std::addressof(value), object_size_v<T>); }
  static T read(reader& from) {
    if constexpr (object_size_v<T> == 0) {
      constexpr std::array<std::byte, sizeof(T)> nothing{};
      return object_from_bytes<T>(nothing.data());
    } else {
      return object_from_bytes<T>(from.view(sizeof(T)).data());
    }
  }
  static void layout(std::string& to) {
    if constexpr (object_size_v<T> == 0) {
      to += "empty<";
      append_name<T>(to);
      to += '>';
    } else {
      append_object<T>(to);
    }
  }
};

template <class T>
struct codec_of_kind<T, codec_kind::bitwise> : object_codec<T> {};
template <class T>
struct codec_of_kind<T, codec_kind::polymorphic> : object_codec<T> {};

}  // namespace ham::msg::detail
