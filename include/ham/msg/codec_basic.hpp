// Codecs of numbers, enumerations, arrays, and of objects that cross as their bytes.
#pragma once

#include <limits>
#include <new>
#include <utility>

#include "ham/msg/codec_core.hpp"
#include "ham/msg/layout.hpp"
#include "ham/msg/object_layout.hpp"

namespace ham::inline v1::msg::detail {

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
template <class Value>
inline constexpr std::size_t number_size_v = std::numeric_limits<Value>::digits == 64 && std::is_floating_point_v<Value>
                                                 ? 10
                                                 : sizeof(Value);

template <class Value>
requires std::is_arithmetic_v<Value>
struct standard_codec<Value> : fixed_codec<number_size_v<Value>> {
  static constexpr bool bulk =
      number_size_v<Value> == sizeof(Value) && !std::is_same_v<Value, bool> && (little_endian || sizeof(Value) == 1);

  static void write(writer& to, Value value) {
    if constexpr (number_size_v<Value> == sizeof(Value)) {
      to.number(value);
    } else {
      to.bytes(&value, number_size_v<Value>);
    }
  }
  static Value read(reader& from) {
    if constexpr (std::is_same_v<Value, bool>) {
      return from.flag();
    } else if constexpr (number_size_v<Value> == sizeof(Value)) {
      return from.template number<Value>();
    } else {
      Value value = 0;
      from.bytes(&value, number_size_v<Value>);
      return value;
    }
  }
  static void layout(std::string& to) {
    if constexpr (std::is_same_v<Value, bool>) {
      append(to, "bool");
    } else if constexpr (std::is_same_v<Value, char>) {
      append(to, "char");
    } else if constexpr (std::is_same_v<Value, wchar_t>) {
      append(to, "wchar", sizeof(Value));
    } else if constexpr (std::is_same_v<Value, char8_t> || std::is_same_v<Value, char16_t> ||
                         std::is_same_v<Value, char32_t>) {
      append(to, "char", 8 * sizeof(Value));
    } else if constexpr (std::is_integral_v<Value>) {
      append(to, std::is_signed_v<Value> ? "i" : "u", sizeof(Value));
    } else if constexpr (std::numeric_limits<Value>::digits == 64) {
      append(to, "f80");
    } else if constexpr (std::numeric_limits<Value>::digits == 113) {
      append(to, "f128");
    } else if constexpr (std::numeric_limits<Value>::digits == 106) {
      append(to, "f128dd");
    } else {
      append(to, "f", sizeof(Value));
    }
  }
};

template <class Value>
requires std::is_enum_v<Value>
struct standard_codec<Value> : fixed_codec<sizeof(Value)> {
  using number = std::underlying_type_t<Value>;
  static constexpr bool bulk = standard_codec<number>::bulk;

  static void write(writer& to, Value value) { to.number(static_cast<number>(value)); }
  static Value read(reader& from) { return static_cast<Value>(standard_codec<number>::read(from)); }
  static void layout(std::string& to) { append(to, "enum<", layout_text<number>(), ">"); }
};

template <>
struct standard_codec<std::nullptr_t> : fixed_codec<0> {
  static void write(writer&, std::nullptr_t) noexcept {}
  static std::nullptr_t read(reader&) noexcept { return nullptr; }
  static void layout(std::string& to) { append(to, "null"); }
};

template <class Value>
struct standard_codec<std::complex<Value>> : fixed_codec<2 * number_size_v<Value>> {
  static constexpr bool valid = std::is_floating_point_v<Value>;
  static constexpr bool bulk = standard_codec<Value>::bulk;

  static void write(writer& to, const std::complex<Value>& value) {
    standard_codec<Value>::write(to, value.real());
    standard_codec<Value>::write(to, value.imag());
  }
  static std::complex<Value> read(reader& from) {
    const Value real = standard_codec<Value>::read(from);
    return {real, standard_codec<Value>::read(from)};
  }
  static void layout(std::string& to) { append(to, "complex<", layout_text<Value>(), ">"); }
};

template <class Value>
inline void write_elements(writer& to, const Value* elements, std::size_t count) {
  if constexpr (codec_for<Value>::bulk) {
    to.bytes(elements, count * sizeof(Value));
  } else {
    for (std::size_t index = 0; index < count; ++index) encode(to, elements[index]);
  }
}

template <class Value>
inline void read_elements(reader& from, Value* elements, std::size_t count) {
  if constexpr (codec_for<Value>::bulk && std::is_trivially_copyable_v<Value>) {
    from.bytes(static_cast<void*>(elements), count * sizeof(Value));
  } else {
    for (std::size_t index = 0; index < count; ++index) decode_into(from, elements[index]);
  }
}

/// What C arrays and std::array share: Size elements without a count.
template <class Value, std::size_t Size>
struct array_codec {
  static constexpr bool valid = storable_v<Value>;
  static constexpr bool fixed = Size == 0 || codec_for<Value>::fixed;
  static constexpr std::size_t min_size = Size * codec_for<Value>::min_size;
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = Size != 0 && codec_for<Value>::bulk;

  static constexpr std::size_t size_of_elements(const Value* elements) {
    std::size_t sum = 0;
    for (std::size_t index = 0; index < Size; ++index) sum += encoded_size(elements[index]);
    return sum;
  }
  static void layout(std::string& to) { append(to, "array<", layout_text<Value>(), ",", Size, ">"); }
};

template <class Value, std::size_t Size>
struct standard_codec<Value[Size]> : array_codec<Value, Size> {
  static constexpr std::size_t size(const Value (&value)[Size]) {
    return array_codec<Value, Size>::size_of_elements(value);
  }
  static void write(writer& to, const Value (&value)[Size]) { write_elements(to, value, Size); }
  static void read_into(reader& from, Value (&value)[Size]) { read_elements(from, value, Size); }
};

template <class Value, std::size_t Size>
struct standard_codec<std::array<Value, Size>> : array_codec<Value, Size> {
  static constexpr std::size_t size(const std::array<Value, Size>& value) {
    return array_codec<Value, Size>::size_of_elements(value.data());
  }
  static void write(writer& to, const std::array<Value, Size>& value) {
    if constexpr (Size != 0) write_elements(to, value.data(), Size);
  }
  static std::array<Value, Size> read(reader& from) {
    if constexpr (Size == 0) {
      return {};
    } else if constexpr (std::is_default_constructible_v<Value>) {
      std::array<Value, Size> value;
      read_elements(from, value.data(), Size);
      return value;
    } else {
      return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        return std::array<Value, Size>{{(static_cast<void>(Index), decode<Value>(from))...}};
      }
      (std::make_index_sequence<Size>());
    }
  }
};

/// Makes a Value from the bytes of one. Value's own constructor runs only if the bytes alone do not make an object: for
/// polymorphic classes it sets the virtual table pointer of this process, which copy constructors never read.
template <class Value>
inline Value object_from_bytes(const std::byte* from) {
  if constexpr (std::is_trivially_copyable_v<Value> && std::is_trivially_default_constructible_v<Value>) {
    Value object;
    std::memcpy(static_cast<void*>(std::addressof(object)), from, sizeof(Value));
    return object;
  } else {
    alignas(Value) std::byte storage[sizeof(Value)];
    std::memcpy(storage, from, sizeof(Value));
    Value& image = *std::launder(reinterpret_cast<Value*>(storage));
    if constexpr (std::is_copy_constructible_v<Value>) {
      return Value(static_cast<const Value&>(image));
    } else {
      return Value(std::move(image));
    }
  }
}

template <class Value>
inline constexpr std::size_t object_size_v = std::is_empty_v<Value> ? 0 : sizeof(Value);

template <class Value>
struct object_codec : fixed_codec<object_size_v<Value>> {
  static constexpr bool bulk = std::is_trivially_copyable_v<Value> && object_size_v<Value> != 0;

  static void write(writer& to, const Value& value) { to.bytes(std::addressof(value), object_size_v<Value>); }
  static Value read(reader& from) {
    if constexpr (object_size_v<Value> == 0) {
      constexpr std::byte nothing[sizeof(Value)]{};
      return object_from_bytes<Value>(nothing);
    } else {
      return object_from_bytes<Value>(from.view(sizeof(Value)).data());
    }
  }
  static void layout(std::string& to) {
    if constexpr (object_size_v<Value> == 0) {
      append(to, "empty<");
      append_name<Value>(to);
      append(to, ">");
    } else {
      append_object<Value>(to);
    }
  }
};

template <class Value>
struct codec_of_kind<Value, codec_kind::bitwise> : object_codec<Value> {};
template <class Value>
struct codec_of_kind<Value, codec_kind::polymorphic> : object_codec<Value> {};

}  // namespace ham::msg::detail
