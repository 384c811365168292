// The codec's front door: which types cross, and encoded_size, encode, decode and append_layout for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ham/msg/call_errors.hpp"
#include "ham/msg/customise.hpp"
#include "ham/msg/layout.hpp"
#include "ham/msg/migratable.hpp"
#include "ham/msg/wire.hpp"

namespace ham::inline v1::msg {
namespace detail {

/// The ways to cross, strongest first: of those that apply to a type the first is taken.
enum class codec_kind : std::uint8_t {
  user,
  migratable,
  fields,
  serialize,
  standard,
  bitwise,
  aggregate,
  polymorphic,
  none
};

/// Codec of one standard type; specialised in codec_basic.hpp, codec_std.hpp,
/// codec_container.hpp and codec_view.hpp. Its members:
///   valid      whether what it contains crosses
///   fixed      whether all values take fixed_size bytes; then `fixed_size` is there
///   min_size   the least number of bytes that a value takes
///   bulk       whether arrays of it are on the wire as they are in memory on this machine
///   size(value), write(writer&, value), read(reader&), layout(std::string&)
template <class Value>
struct standard_codec;

template <class Value, codec_kind Kind>
struct codec_of_kind;

template <class Value>
concept has_user_codec = requires {
  sizeof(codec<Value>);
};
template <class Value>
concept has_standard_codec = requires {
  sizeof(standard_codec<Value>);
};

template <class Value>
consteval bool has_own_fields();
template <class Value>
consteval bool has_serialize();
template <class Value>
consteval bool has_free_serialize();
template <class Value>
consteval bool crosses_as_aggregate();

/// Classes with virtual functions: those whose copying cannot fail own nothing, as far as can be told from outside. The
/// exceptions of the standard library share a string, copied without fail.
template <class Value>
consteval bool crosses_as_polymorphic_object() {
  if constexpr (std::is_polymorphic_v<Value> && !std::is_abstract_v<Value>) {
    return std::is_nothrow_copy_constructible_v<Value> && !std::is_base_of_v<std::exception, Value>;
  } else {
    return false;
  }
}

template <class Value>
consteval codec_kind kind_of() {
  if constexpr (!std::is_object_v<Value> || std::is_const_v<Value> || std::is_volatile_v<Value>) {
    return codec_kind::none;
  } else if constexpr (has_user_codec<Value>) {
    return codec_kind::user;
  } else if constexpr (has_own_migratable<Value>()) {
    return codec_kind::migratable;
  } else if constexpr (has_own_fields<Value>()) {
    return codec_kind::fields;
  } else if constexpr (has_serialize<Value>()) {
    return codec_kind::serialize;
  } else if constexpr (has_standard_codec<Value>) {
    return standard_codec<Value>::valid ? codec_kind::standard : codec_kind::none;
  } else if constexpr (has_free_serialize<Value>()) {
    return codec_kind::serialize;
  } else if constexpr (is_bitwise_copyable<Value>::value && std::is_move_constructible_v<Value>) {
    return codec_kind::bitwise;
  } else if constexpr (crosses_as_aggregate<Value>()) {
    return codec_kind::aggregate;
  } else if constexpr (crosses_as_polymorphic_object<Value>()) {
    return codec_kind::polymorphic;
  } else {
    return codec_kind::none;
  }
}

template <class Value>
using codec_for = codec_of_kind<Value, kind_of<Value>()>;

/// Types that refer to memory they do not own: cross as arguments only, decoded in place.
template <class Value>
inline constexpr bool is_view_v = false;
template <class Char, class Traits>
inline constexpr bool is_view_v<std::basic_string_view<Char, Traits>> = true;
template <class Value, std::size_t Extent>
inline constexpr bool is_view_v<std::span<const Value, Extent>> = true;

/// Whether Value may be part of another type.
template <class Value>
inline constexpr bool storable_v = kind_of<Value>() != codec_kind::none && !is_view_v<Value>;

}  // namespace detail

/// Value (a type without reference and const) may be an argument of a call.
template <class Value>
concept crosses = !std::is_array_v<Value> && detail::kind_of<Value>() != detail::codec_kind::none;

/// Value may be the result of a call: as crosses, without views (`std::string_view`, `std::span<const Element>`) of
/// memory that would be gone; or void.
template <class Value>
concept crosses_back = std::is_void_v<Value> ||(crosses<Value> && !detail::is_view_v<Value>);

/// Named by the compiler's message when a function whose result is a view of memory is to be called on another node.
template <class Value>
struct result_cannot_cross {
  static_assert(!detail::is_view_v<Value>,
                "ham: this type cannot cross back as a result: it is a view of memory of the other node. Return a "
                "std::string or a container");
};

/// For `static_assert(require_argument<Value>())`: does not compile, with the messages above, unless Value crosses.
template <class Value, std::size_t Place = 0>
consteval bool require_argument() {
  if constexpr (!crosses<Value>) static_assert(sizeof(typename crossing_error<Value, Place>::type) != 0);
  return true;
}

/// For `static_assert(require_result<Value>())`: does not compile, with the messages above, unless Value crosses back.
template <class Value>
consteval bool require_result() {
  if constexpr (!std::is_void_v<Value>) {
    static_assert(sizeof(result_cannot_cross<Value>) != 0);
    require_argument<Value, place_of_result>();
  }
  return true;
}

namespace detail {

// Reached only with types that cannot cross: states the error, then keeps quiet.
template <class Value>
struct codec_of_kind<Value, codec_kind::none> {
  static_assert(sizeof(typename crossing_error<Value>::type) != 0);
  static constexpr bool fixed = false;
  static constexpr bool bulk = false;
  static constexpr std::size_t min_size = 1;
  static constexpr std::size_t size(const Value&) { return 0; }
  static void write(writer&, const Value&) {}
  static Value read(reader&);
  static void layout(std::string&) {}
};

template <class Value>
struct codec_of_kind<Value, codec_kind::standard> : standard_codec<Value> {};

/// Counts nesting while sizes are computed, so that the sender refuses what the receiver would.
class sizing_nested {
 public:
  sizing_nested() {
    if (depth_ == max_nesting) [[unlikely]]
      throw_too_deep();
    ++depth_;
  }
  ~sizing_nested() { --depth_; }
  sizing_nested(const sizing_nested&) = delete;
  sizing_nested& operator=(const sizing_nested&) = delete;

 private:
  static inline constinit thread_local std::uint32_t depth_ = 0;
};

template <class Value>
using decoded_t = decltype(codec_for<Value>::read(std::declval<reader&>()));

}  // namespace detail

/// What decode<Value> returns: Value itself, for views something that converts to Value and keeps what it must.
template <class Value>
using decode_result_t = detail::decoded_t<Value>;

/// Whether every value of Value takes the same number of bytes on the wire: fixed_encoded_size_v<Value>.
template <class Value>
inline constexpr bool fixed_size_v = detail::codec_for<Value>::fixed;

template <class Value>
requires fixed_size_v<Value>
inline constexpr std::size_t fixed_encoded_size_v = detail::codec_for<Value>::fixed_size;

/// Bytes that `value` takes on the wire. Throws ham::error for values that cannot be sent (valueless variant, nesting
/// deeper than max_nesting), and whatever a user's codec throws.
template <class Value>
[[nodiscard]] constexpr std::size_t encoded_size(const Value& value) {
  if constexpr (fixed_size_v<Value>) {
    return fixed_encoded_size_v<Value>;
  } else {
    return detail::codec_for<Value>::size(value);
  }
}

/// Writes `value`: encoded_size(value) bytes.
template <class Value>
[[gnu::always_inline]] inline void encode(writer& to, const Value& value) {
  detail::codec_for<Value>::write(to, value);
}

/// Reads a value of the decayed parameter type Value. Throws ham::protocol_error if the bytes are not those of a Value.
/// `std::string_view` and `std::span<const Element>` refer to the bytes under the reader if these are aligned for
/// Element, else the returned object owns a copy; either way it must outlive the use of the view made from it.
template <class Value>
[[nodiscard, gnu::always_inline]] inline decode_result_t<Value> decode(reader& from) {
  return detail::codec_for<Value>::read(from);
}

/// Reads into an existing object, also into a C array.
template <class Value>
inline void decode_into(reader& from, Value& to) {
  if constexpr (std::is_array_v<Value>) {
    detail::codec_for<Value>::read_into(from, to);
  } else {
    to = decode<Value>(from);
  }
}

/// Appends a text that says how Value is laid out on the wire: "i4", "str", "vec<f8>", "tuple<i4,f8>",
/// "fields<particle:f8,str>", "opaque<particle,24,8>". Nodes whose texts for an argument differ do not exchange it.
/// The characters `<`, `>` and `,` only appear as structure.
template <class Value>
void append_layout(std::string& to) {
  detail::codec_for<Value>::layout(to);
}

/// The layouts of several types, separated by commas.
template <class... Types>
[[nodiscard]] std::string layout_text() {
  if constexpr (sizeof...(Types) == 0) {
    return {};
  } else {
    static constexpr detail::layout_writer writers[] = {&append_layout<Types>...};
    return detail::join_layouts(writers);
  }
}

namespace detail {

// Elements of containers. One that may take no bytes at all gets one, so that a count is always backed by real bytes.
template <class Value>
inline constexpr bool needs_marker_v = codec_for<Value>::min_size == 0;

template <class Value>
inline constexpr std::size_t element_min_v = needs_marker_v<Value> ? 1 : codec_for<Value>::min_size;

template <class Value>
constexpr std::size_t element_size(const Value& value) {
  return encoded_size(value) + (needs_marker_v<Value> ? 1 : 0);
}

template <class Value>
inline void write_element(writer& to, const Value& value) {
  if constexpr (needs_marker_v<Value>) to.number(std::uint8_t{0});
  encode(to, value);
}

template <class Value>
inline Value read_element(reader& from) {
  if constexpr (needs_marker_v<Value>) {
    if (from.template number<std::uint8_t>() != 0) [[unlikely]]
      throw_malformed("an empty element is not marked so");
  }
  return decode<Value>(from);
}

}  // namespace detail
}  // namespace ham::msg
