// Codecs of types whose users say how they cross: ham::codec, ham::migratable, HAM_FIELDS, HAM_FIELDS_OF.
#pragma once

#include <tuple>
#include <utility>

#include "ham/msg/archive.hpp"
#include "ham/msg/codec_basic.hpp"

namespace ham::inline v1::msg::detail {

template <class Value>
using fields_owner_t = decltype(access::fields_owner(std::declval<const Value&>()));

template <class Value>
concept has_fields = requires {
  typename fields_owner_t<Value>;
};

template <class Value>
concept has_listed_fields = requires {
  sizeof(listed_fields<Value>);
};

template <class Value>
consteval bool has_own_fields() {
  if constexpr (has_listed_fields<Value>) {
    return true;
  } else if constexpr (has_fields<Value>) {
    return std::is_same_v<fields_owner_t<Value>, Value*>;
  } else {
    return false;
  }
}

/// References to the fields of an object, whoever lists them.
template <class Object>
constexpr auto fields_in(Object& object) {
  if constexpr (has_listed_fields<std::remove_const_t<Object>>)
    return listed_fields<std::remove_const_t<Object>>::of(object);
  else
    return access::fields(object);
}

template <class Value>
struct codec_of_kind<Value, codec_kind::user> {
  using user = codec<Value>;
  static constexpr bool fixed = requires { user::fixed_size; };
  static constexpr bool bulk = false;
  static constexpr std::size_t fixed_size = [] {
    if constexpr (fixed) return std::size_t{user::fixed_size};
    return std::size_t{0};
  }();
  static constexpr std::size_t min_size = fixed_size;
  using nesting_guard = std::conditional_t<fixed, reader::unnested, reader::nested>;

  static std::size_t size(const Value& value) {
    const sizing_nested guard;
    return user::size(value);
  }
  static void write(writer& to, const Value& value) {
    [[maybe_unused]] const std::size_t before = to.remaining();
    user::write(to, value);
    if constexpr (fixed) assert(before - to.remaining() == fixed_size);
  }
  static Value read(reader& from) {
    [[maybe_unused]] const nesting_guard guard(from);
    return user::read(from);
  }
  static void layout(std::string& to) {
    const describing<Value> mark;
    append(to, "codec<");
    append_name<Value>(to);
    if constexpr (requires { user::layout(); }) {
      if (mark.first()) append(to, ":", user::layout());
    }
    append(to, ">");
  }
};

template <class Value>
struct codec_of_kind<Value, codec_kind::migratable> {
  using form = migratable<Value>;
  static constexpr bool fixed = true;
  static constexpr std::size_t fixed_size = object_size_v<form>;
  static constexpr std::size_t min_size = fixed_size;
  static constexpr bool bulk = false;

  static void write(writer& to, const Value& value) {
    const form travelling(value);
    object_codec<form>::write(to, travelling);
  }
  static Value read(reader& from) {
    const form arrived = object_codec<form>::read(from);
    if constexpr (std::is_convertible_v<const form&, const Value&>) {
      return static_cast<const Value&>(arrived);
    } else {
      return static_cast<Value>(arrived);
    }
  }
  static void layout(std::string& to) { object_codec<form>::layout(to); }
};

template <class Tie>
struct field_list;

/// The fields of a class, given as the type of the std::tie of them (const).
template <class... Fields>
struct field_list<std::tuple<Fields&...>> {
  static constexpr bool fixed = (codec_for<std::remove_const_t<Fields>>::fixed && ...);
  static constexpr std::size_t min_size = (std::size_t{0} + ... + codec_for<std::remove_const_t<Fields>>::min_size);
  static void layout(std::string& to) {
    const char* separator = ":";
    ((append(to, separator), append_layout<std::remove_const_t<Fields>>(to), separator = ","), ...);
  }
};

template <class Value>
struct codec_of_kind<Value, codec_kind::fields> {
  using list = field_list<decltype(fields_in(std::declval<const Value&>()))>;
  static constexpr bool fixed = list::fixed;
  static constexpr std::size_t min_size = list::min_size;
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = false;
  using nesting_guard = std::conditional_t<fixed, reader::unnested, reader::nested>;

  static std::size_t size(const Value& value) {
    const sizing_nested guard;
    return std::apply([](const auto&... field) { return (std::size_t{0} + ... + encoded_size(field)); },
                      fields_in(value));
  }
  static void write(writer& to, const Value& value) {
    std::apply([&](const auto&... field) { (encode(to, field), ...); }, fields_in(value));
  }
  static Value read(reader& from) {
    static_assert(std::is_default_constructible_v<Value>,
                  "ham: a class with HAM_FIELDS must be default constructible to be received");
    [[maybe_unused]] const nesting_guard guard(from);
    Value value{};
    std::apply([&](auto&... field) { (decode_into(from, field), ...); }, fields_in(value));
    return value;
  }
  static void layout(std::string& to) {
    const describing<Value> mark;
    append(to, "fields<");
    append_name<Value>(to);
    if (mark.first()) list::layout(to);
    append(to, ">");
  }
};

}  // namespace ham::msg::detail
