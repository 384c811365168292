// Codecs of the standard library's value types: strings, tuple, pair, optional, variant, chrono, bitset, paths.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "ham/msg/codec_basic.hpp"

namespace ham::inline v1::msg::detail {

/// Name of a string of these characters: "str" for char, else "str<char16>" and the like.
template <class Char>
void string_layout(std::string& to) {
  append(to, "str");
  if constexpr (!std::is_same_v<Char, char>) {
    append(to, "<");
    append_layout<Char>(to);
    append(to, ">");
  }
}

template <class Char, class Traits, class Allocator>
struct standard_codec<std::basic_string<Char, Traits, Allocator>> : varying_codec<8> {
  using string = std::basic_string<Char, Traits, Allocator>;
  static constexpr bool valid = std::is_arithmetic_v<Char> && std::is_default_constructible_v<Allocator>;

  static constexpr std::size_t size(const string& value) noexcept { return 8 + value.size() * sizeof(Char); }
  static void write(writer& to, const string& value) {
    to.count(value.size());
    write_elements(to, value.data(), value.size());
  }
  static string read(reader& from) { return read_counted(from, from.count(sizeof(Char))); }
  static string read_counted(reader& from, std::size_t length) {
    if constexpr (sizeof(Char) == 1) {
      return string(reinterpret_cast<const Char*>(from.view(length).data()), length);
    } else {
      string value(length, Char{});
      read_elements(from, value.data(), length);
      return value;
    }
  }
  static void layout(std::string& to) { string_layout<Char>(to); }
};

// Inside a tuple a raw pointer crosses as an opaque number, as applications of the published HAM expect.
template <class Value>
inline constexpr bool opaque_pointer_v =
    std::is_pointer_v<Value> && !std::is_function_v<std::remove_pointer_t<Value>> &&
    kind_of<Value>() == codec_kind::none;

template <class Value>
struct opaque_pointer_codec : fixed_codec<8> {
  static void write(writer& to, Value value) {
    to.number(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(value)));
  }
  static Value read(reader& from) {
    return reinterpret_cast<Value>(static_cast<std::uintptr_t>(from.number<std::uint64_t>()));
  }
  static void layout(std::string& to) { append(to, "ptr"); }
};

template <class Value, bool Pointer = opaque_pointer_v<Value>>
struct tuple_element_codec : opaque_pointer_codec<Value> {
  static constexpr std::size_t size(Value) noexcept { return 8; }
};

template <class Value>
struct tuple_element_codec<Value, false> {
  static constexpr bool fixed = codec_for<Value>::fixed;
  static constexpr std::size_t min_size = codec_for<Value>::min_size;
  static constexpr std::size_t size(const Value& value) { return encoded_size(value); }
  static void write(writer& to, const Value& value) { encode(to, value); }
  static Value read(reader& from) { return decode<Value>(from); }
  static void layout(std::string& to) { append_layout<Value>(to); }
};

template <class... Types>
struct standard_codec<std::tuple<Types...>> {
  using tuple = std::tuple<Types...>;
  static constexpr bool valid = ((storable_v<Types> || opaque_pointer_v<Types>)&&...);
  static constexpr bool fixed = (tuple_element_codec<Types>::fixed && ...);
  static constexpr std::size_t min_size = (std::size_t{0} + ... + tuple_element_codec<Types>::min_size);
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = false;

  static constexpr std::size_t size(const tuple& value) {
    return std::apply(
        [](const Types&... element) { return (std::size_t{0} + ... + tuple_element_codec<Types>::size(element)); },
        value);
  }
  static void write(writer& to, const tuple& value) {
    std::apply([&](const Types&... element) { (tuple_element_codec<Types>::write(to, element), ...); }, value);
  }
  static tuple read([[maybe_unused]] reader& from) { return tuple{tuple_element_codec<Types>::read(from)...}; }
  static void layout(std::string& to) {
    [[maybe_unused]] const char* separator = "";
    append(to, "tuple<");
    ((append(to, separator), tuple_element_codec<Types>::layout(to), separator = ","), ...);
    append(to, ">");
  }
};

template <class First, class Second>
struct standard_codec<std::pair<First, Second>> {
  using first_type = std::remove_const_t<First>;
  using second_type = std::remove_const_t<Second>;
  using pair = std::pair<First, Second>;
  static constexpr bool valid = storable_v<first_type> && storable_v<second_type>;
  static constexpr bool fixed = codec_for<first_type>::fixed && codec_for<second_type>::fixed;
  static constexpr std::size_t min_size = codec_for<first_type>::min_size + codec_for<second_type>::min_size;
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = false;

  static constexpr std::size_t size(const pair& value) {
    return encoded_size(value.first) + encoded_size(value.second);
  }
  static void write(writer& to, const pair& value) {
    encode(to, value.first);
    encode(to, value.second);
  }
  static pair read(reader& from) {
    auto first = decode<first_type>(from);
    return pair(std::move(first), decode<second_type>(from));
  }
  static void layout(std::string& to) { append(to, "pair<", layout_text<first_type, second_type>(), ">"); }
};

template <class Value>
struct standard_codec<std::optional<Value>> : varying_codec<1> {
  static constexpr bool valid = storable_v<Value>;

  static constexpr std::size_t size(const std::optional<Value>& value) { return value ? 1 + encoded_size(*value) : 1; }
  static void write(writer& to, const std::optional<Value>& value) {
    to.number(static_cast<std::uint8_t>(value.has_value()));
    if (value) encode(to, *value);
  }
  static std::optional<Value> read(reader& from) {
    if (!from.flag()) return std::nullopt;
    return std::optional<Value>(std::in_place, decode<Value>(from));
  }
  static void layout(std::string& to) { append(to, "opt<", layout_text<Value>(), ">"); }
};

template <>
struct standard_codec<std::monostate> : fixed_codec<0> {
  static void write(writer&, std::monostate) noexcept {}
  static std::monostate read(reader&) noexcept { return {}; }
  static void layout(std::string& to) { append(to, "monostate"); }
};

template <class... Types>
struct standard_codec<std::variant<Types...>> : varying_codec<1> {
  using variant = std::variant<Types...>;
  static constexpr bool valid = (storable_v<Types> && ...);
  static_assert(sizeof...(Types) < 256, "ham: a variant with more than 255 alternatives cannot cross");

  static constexpr std::size_t size(const variant& value) {
    if (value.valueless_by_exception()) throw_valueless();
    return 1 + std::visit([](const auto& held) { return encoded_size(held); }, value);
  }
  static void write(writer& to, const variant& value) {
    to.number(static_cast<std::uint8_t>(value.index()));
    std::visit([&to](const auto& held) { encode(to, held); }, value);
  }
  static variant read(reader& from) { return read_alternative<0>(from, from.number<std::uint8_t>()); }
  static void layout(std::string& to) { append(to, "variant<", layout_text<Types...>(), ">"); }

 private:
  template <std::size_t Index>
  static variant read_alternative(reader& from, std::size_t index) {
    if constexpr (Index == sizeof...(Types)) {
      throw_malformed("a variant has no alternative of the number announced");
    } else if (index == Index) {
      return variant(std::in_place_index<Index>, decode<std::variant_alternative_t<Index, variant>>(from));
    } else {
      return read_alternative<Index + 1>(from, index);
    }
  }
};

template <class Rep, class Period>
struct standard_codec<std::chrono::duration<Rep, Period>> {
  using duration = std::chrono::duration<Rep, Period>;
  static constexpr bool valid = storable_v<Rep>;
  static constexpr bool fixed = codec_for<Rep>::fixed;
  static constexpr std::size_t min_size = codec_for<Rep>::min_size;
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = codec_for<Rep>::bulk && sizeof(duration) == sizeof(Rep);

  static constexpr std::size_t size(const duration& value) { return encoded_size(value.count()); }
  static void write(writer& to, const duration& value) { encode(to, value.count()); }
  static duration read(reader& from) { return duration(decode<Rep>(from)); }
  static void layout(std::string& to) {
    append(to, "duration<", layout_text<Rep>(), ",", static_cast<std::size_t>(Period::num), "/",
           static_cast<std::size_t>(Period::den), ">");
  }
};

template <class Clock, class Duration>
struct standard_codec<std::chrono::time_point<Clock, Duration>> {
  using time_point = std::chrono::time_point<Clock, Duration>;
  using since_epoch = standard_codec<Duration>;
  static constexpr bool valid = since_epoch::valid;
  static constexpr bool fixed = since_epoch::fixed;
  static constexpr std::size_t min_size = since_epoch::min_size;
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = since_epoch::bulk && sizeof(time_point) == sizeof(Duration);

  static constexpr std::size_t size(const time_point& value) { return since_epoch::size(value.time_since_epoch()); }
  static void write(writer& to, const time_point& value) { since_epoch::write(to, value.time_since_epoch()); }
  static time_point read(reader& from) { return time_point(since_epoch::read(from)); }
  static void layout(std::string& to) { append(to, "time_point<", layout_text<Duration>(), ">"); }
};

template <std::size_t Bits>
struct standard_codec<std::bitset<Bits>> : fixed_codec<(Bits + 7) / 8> {
  static void write(writer& to, const std::bitset<Bits>& value) {
    for (std::size_t first = 0; first < Bits; first += 8) {
      unsigned byte = 0;
      for (std::size_t bit = first; bit < Bits && bit < first + 8; ++bit) byte |= unsigned{value[bit]} << (bit - first);
      to.number(static_cast<std::uint8_t>(byte));
    }
  }
  static std::bitset<Bits> read(reader& from) {
    std::bitset<Bits> value;
    for (std::size_t first = 0; first < Bits; first += 8) {
      const unsigned byte = from.number<std::uint8_t>();
      for (std::size_t bit = first; bit < Bits && bit < first + 8; ++bit)
        value[bit] = (byte >> (bit - first) & 1U) != 0;
    }
    return value;
  }
  static void layout(std::string& to) { append(to, "bitset<", Bits, ">"); }
};

/// std::filesystem::path, told by what only it has: the header is a heavy one for those who do not use it.
template <class Value>
concept path_like = requires(const Value& path) {
  { path.native() } -> std::same_as<const typename Value::string_type&>;
  { Value::preferred_separator } -> std::convertible_to<typename Value::value_type>;
  { path.root_directory() } -> std::same_as<Value>;
}
&&std::is_constructible_v<Value, typename Value::string_type>;

template <path_like Value>
struct standard_codec<Value> : varying_codec<8> {
  using native = standard_codec<typename Value::string_type>;
  static constexpr bool valid = true;
  static std::size_t size(const Value& value) noexcept { return native::size(value.native()); }
  static void write(writer& to, const Value& value) { native::write(to, value.native()); }
  static Value read(reader& from) { return Value(native::read(from)); }
  static void layout(std::string& to) { append(to, "path<", layout_text<typename Value::string_type>(), ">"); }
};

}  // namespace ham::msg::detail
