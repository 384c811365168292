// The points where users say how their types cross: ham::codec, ham::is_bitwise_copyable, HAM_FIELDS, HAM_FIELDS_OF.
#pragma once

#include <coroutine>
#include <initializer_list>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "ham/msg/std_forward.hpp"

namespace ham::inline v1 {

/// How a type crosses, said by the user. There is no general definition; specialise it for your type:
///
///     template <> struct ham::codec<shape> {
///       static std::size_t size(const shape& s) { return ham::msg::encoded_size(s.name()); }        // bytes written
///       static void write(ham::msg::writer& to, const shape& s) { ham::msg::encode(to, s.name()); }
///       static shape read(ham::msg::reader& from) { return shape{ham::msg::decode<std::string>(from)}; }
///     };
///
/// `write` must write exactly what `size` announced. `read` sees bytes of a peer: decode() checks them, what they mean
/// to the type is checked here (throw ham::protocol_error). Optional members:
/// `static constexpr std::size_t fixed_size`: every value takes that many bytes; replaces `size` and makes calls
/// faster; `static std::string layout()`: text that changes when the encoding changes, for example
/// `ham::msg::layout_text<std::string>()`, compared between nodes. Called from any thread.
template <class Value>
struct codec;

namespace msg::detail {

// Standard types that are trivially copyable but mean nothing without the memory they point to.
template <class Value>
inline constexpr bool borrows_v = std::is_pointer_v<Value> || std::is_member_pointer_v<Value>;
template <class Value>
inline constexpr bool borrows_v<std::reference_wrapper<Value>> = true;
template <class Value>
inline constexpr bool borrows_v<std::initializer_list<Value>> = true;
template <class Value>
inline constexpr bool borrows_v<std::coroutine_handle<Value>> = true;
template <class Value, std::size_t Extent>
inline constexpr bool borrows_v<std::span<Value, Extent>> = true;
template <class Char, class Traits>
inline constexpr bool borrows_v<std::basic_string_view<Char, Traits>> = true;
template <>
inline constexpr bool borrows_v<std::type_index> = true;
template <>
inline constexpr bool borrows_v<std::error_code> = true;
template <>
inline constexpr bool borrows_v<std::error_condition> = true;

template <>
inline constexpr bool borrows_v<bit_reference> = true;

/// How a type may be copied by its bytes.
enum class byte_copies { none, trivial, only_copied };

/// `trivial`: as std::is_trivially_copyable. GCC 12 denies that of lambdas with captures as soon as something, such as
/// std::tuple, has asked whether they can be assigned; which it is must not depend on what was asked before.
/// `only_copied`: classes that are copied and destroyed trivially, but not assigned or moved, as everything with a
/// std::pair or a std::tuple in it: values that cross are copies. Aggregates cross member by member instead.
template <class Value>
consteval byte_copies byte_copies_of() {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    return byte_copies::trivial;
  } else if constexpr (!std::is_class_v<Value> || !std::is_trivially_copy_constructible_v<Value> ||
                       !std::is_trivially_destructible_v<Value> || std::is_aggregate_v<Value>) {
    return byte_copies::none;
  } else if constexpr (!std::is_trivially_move_constructible_v<Value> || std::is_default_constructible_v<Value> ||
                       std::is_copy_assignable_v<Value> || std::is_move_assignable_v<Value>) {
    return byte_copies::only_copied;
  } else {
    return byte_copies::trivial;
  }
}

}  // namespace msg::detail

/// Whether a value crosses as the bytes of its object: by default, if it is trivially copyable and not a pointer (nor a
/// member pointer, reference wrapper, mutable span or the like), or a class with constructors that is copied and
/// destroyed trivially, such as one with a std::pair as a member. Specialise it as std::true_type for a class
/// that is not trivially copyable in the eyes of the compiler but may be moved by copying its bytes and
/// copy-constructing from those, for a pointer type whose values mean the same on both sides, or for a class that holds
/// such pointers, which silences the warning about them; as std::false_type to keep a type from crossing. Objects that
/// cross so are not converted between nodes of different data layout: such calls are refused there.
template <class Value>
struct is_bitwise_copyable
    : std::bool_constant<msg::detail::byte_copies_of<Value>() != msg::detail::byte_copies::none &&
                         !msg::detail::borrows_v<Value>> {
  using unless_specialised = void;  ///< internal
};

namespace msg {

/// The fields that HAM_FIELDS_OF lists; there is no general definition.
template <class Value>
struct listed_fields;

/// Befriend it (`friend struct ham::msg::access;`) to keep `serialize`, `save` and `load` members private.
struct access {
  /// A std::tie of what HAM_FIELDS lists.
  template <class Value>
  static constexpr auto fields(Value& object) -> decltype(object.ham_fields_()) {
    return object.ham_fields_();
  }
  /// A pointer to the class whose HAM_FIELDS it is, which a class may have inherited. For decltype only.
  template <class Value>
  static auto fields_owner(Value& object) -> decltype(object.ham_fields_owner_());

  /// These call the member functions of the same name; `serialize_versioned` the one with a version, which is 0.
  template <class Value, class Archive>
  static auto serialize(Value& object, Archive& archive) -> decltype(object.serialize(archive)) {
    return object.serialize(archive);
  }
  template <class Value, class Archive>
  static auto serialize_versioned(Value& object, Archive& archive) -> decltype(object.serialize(archive, 0U)) {
    return object.serialize(archive, 0U);
  }
  template <class Value, class Archive>
  static auto save(const Value& object, Archive& archive) -> decltype(object.save(archive)) {
    return object.save(archive);
  }
  template <class Value, class Archive>
  static auto load(Value& object, Archive& archive) -> decltype(object.load(archive)) {
    return object.load(archive);
  }
  /// Address of the member for one archive, which tells whose it is. For decltype only.
  template <class Value, class Archive>
  static auto serialize_pointer() -> decltype(&Value::template serialize<Archive>);
  template <class Value, class Archive>
  static auto save_pointer() -> decltype(&Value::template save<Archive>);
};

}  // namespace msg
}  // namespace ham

/// Lists the members of a class that make up its value:
///
///     struct particle {
///       double x[3];
///       std::string name;
///       HAM_FIELDS(x, name)
///     };
///
/// The class then crosses field by field, also between nodes of different data layout. It must be default
/// constructible; members not listed keep the value that the default constructor gives them. Any access section, local
/// classes and C arrays are fine, bit-fields and references are not. A derived class needs a list of its own (which
/// may name inherited members): the list of its base is not taken for it.
#define HAM_FIELDS(...)                                                    \
  friend struct ::ham::msg::access;                                        \
  auto ham_fields_owner_() const->::std::remove_cvref_t<decltype(*this)>*; \
  constexpr auto ham_fields_() { return ::std::tie(__VA_ARGS__); }         \
  constexpr auto ham_fields_() const { return ::std::tie(__VA_ARGS__); }

/// Lists the members of a class that somebody else has written, in the global namespace, before the class is sent:
///
///     HAM_FIELDS_OF(other::particle, x, name)
///
/// The members must be public. Else as HAM_FIELDS. A type with commas needs a name of its own: `using pair = ...;`.
#define HAM_FIELDS_OF(TYPE, ...)                                                   \
  template <>                                                                      \
  struct ham::msg::listed_fields<TYPE> {                                           \
    static constexpr auto of(TYPE& ham_object_) {                                  \
      static_cast<void>(ham_object_);                                              \
      return ::std::tie(__VA_OPT__(HAM_EXPAND(HAM_FIELD_OF_OBJECT(__VA_ARGS__)))); \
    }                                                                              \
    static constexpr auto of(const TYPE& ham_object_) {                            \
      static_cast<void>(ham_object_);                                              \
      return ::std::tie(__VA_OPT__(HAM_EXPAND(HAM_FIELD_OF_OBJECT(__VA_ARGS__)))); \
    }                                                                              \
  };

// "ham_object_.first, ham_object_.second, ..." of up to 80 names: each scan of the text takes one further.
#define HAM_FIELD_OF_OBJECT(NAME, ...) ham_object_.NAME __VA_OPT__(, HAM_NEXT_FIELD HAM_PARENTHESES(__VA_ARGS__))
#define HAM_NEXT_FIELD() HAM_FIELD_OF_OBJECT
#define HAM_PARENTHESES ()
#define HAM_EXPAND(...) HAM_EXPAND_27(HAM_EXPAND_27(HAM_EXPAND_27(__VA_ARGS__)))
#define HAM_EXPAND_27(...) HAM_EXPAND_9(HAM_EXPAND_9(HAM_EXPAND_9(__VA_ARGS__)))
#define HAM_EXPAND_9(...) HAM_EXPAND_3(HAM_EXPAND_3(HAM_EXPAND_3(__VA_ARGS__)))
#define HAM_EXPAND_3(...) HAM_EXPAND_1(HAM_EXPAND_1(HAM_EXPAND_1(__VA_ARGS__)))
#define HAM_EXPAND_1(...) __VA_ARGS__
