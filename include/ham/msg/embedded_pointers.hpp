// Which objects that cross as their bytes hold pointers, references or views, which mean nothing on another node.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "ham/msg/codec_core.hpp"
#include "ham/msg/member_types.hpp"
#include "ham/msg/object_layout.hpp"
#include "ham/msg/std_forward.hpp"

namespace ham::inline v1::msg {
namespace detail {

/// Type of a class in Value that holds a pointer, a reference or a view and crosses as its bytes; void if there is
/// none.
template <class Value>
struct pointer_holder;
template <class Value>
using pointer_holder_t = typename pointer_holder<Value>::type;

template <std::size_t Size>
struct object_bytes {
  unsigned char bytes[Size]{};
};

/// Objects up to this size are made from bytes while compiling; it takes time.
inline constexpr std::size_t max_constant_object = 1024;

/// True of any object; nvcc loses the parentheses of a comma expression in an argument of a template.
template <class Value>
constexpr bool exists(const Value&) noexcept {
  return true;
}

/// Whether an object of Value can be made from bytes in a constant expression: not if there is a pointer, a reference
/// or a union anywhere in it, also where the language does not tell the members (lambdas). Compilers add limits of
/// their own (clang 14: bit-fields), so that only `true` says something for certain.
template <class Value>
concept made_of_bytes = std::is_trivially_copyable_v<Value> && requires {
  typename std::bool_constant<exists(__builtin_bit_cast(Value, object_bytes<sizeof(Value)>{}))>;
};

/// Nothing can be said of large classes, of those that there are no constants of, and of lambdas of which GCC 12 has
/// forgotten that they are trivially copyable (byte_copies_of).
template <class Value>
inline constexpr bool hides_pointer =
    sizeof(Value) <= max_constant_object&& __is_literal_type(Value) && std::is_trivially_copyable_v<Value> &&
    !made_of_bytes<Value>;

template <class Member>
inline constexpr bool is_pointer_member = !storable_v<std::remove_all_extents_t<Member>> ||
                                          !std::is_void_v<pointer_holder_t<std::remove_all_extents_t<Member>>>;

template <class Members>
inline constexpr bool has_pointer_among = false;
template <class... Members>
inline constexpr bool has_pointer_among<member_types<Members...>> = (is_pointer_member<std::remove_cv_t<Members>> ||
                                                                     ...);

/// Stand for a member that is a pointer or a view, or holds one; for a reference to what is const; for anything, also
/// for a reference to what is not const, which any_member cannot stand for.
template <class Whole>
struct any_pointer_member {
  template <class Object>
  requires(!std::is_same_v<std::remove_cv_t<Object>, Whole> && is_pointer_member<std::remove_cv_t<Object>>)
  operator Object() const noexcept;
};
struct any_const_reference {
  template <class Object>
  requires std::is_const_v<Object>
  operator Object&() const noexcept;
};
template <class Whole>
struct any_lvalue {
  template <class Object>
  requires(!std::is_same_v<std::remove_cv_t<Object>, Whole>) operator Object&() const noexcept;
};

template <class Value, std::size_t... Index>
constexpr bool takes_lvalues(std::index_sequence<Index...>) {
  return requires { Value{(static_cast<void>(Index), any_lvalue<Value>{})...}; };
}
template <class Value, std::size_t Count = max_described_members>
constexpr bool takes_some_lvalues() {
  if constexpr (Count == 0)
    return false;
  else if constexpr (takes_lvalues<Value>(std::make_index_sequence<Count>()))
    return true;
  else
    return takes_some_lvalues<Value, Count - 1>();
}

/// Whether one of the first Count initialisers of Value can be Member.
template <class Value, class Member, std::size_t Count>
constexpr bool takes_among() {
  if constexpr (Count == 0)
    return false;
  else if constexpr (takes_then<Value>(std::make_index_sequence<Count - 1>(), std::type_identity<Member>()))
    return true;
  else
    return takes_among<Value, Member, Count - 1>();
}

/// Aggregates tell their members, at least the first ones.
template <class Value>
constexpr bool has_pointer_member() {
  constexpr std::size_t members = member_count<Value>();
  constexpr std::size_t count = initialisers<Value>();
  if constexpr (count == 0) {
    return takes_some_lvalues<Value>();
  } else if constexpr (takes_among<Value, any_const_reference, count>()) {
    return true;
  } else if constexpr (members != 0) {
    return has_pointer_among<member_types_t<Value, members>>;
  } else if constexpr (takes_among<Value, any_pointer_member<Value>, count>()) {
    return true;
  } else {
    return count == max_described_members && hides_pointer<Value>;
  }
}

/// Whether Value, which crosses as its bytes and has not been said to mean the same there, holds a pointer.
template <class Value>
constexpr bool embeds_pointer() {
  if constexpr (std::is_empty_v<Value> || sizeof(Value) < sizeof(void*) ||
                !requires { typename is_bitwise_copyable<Value>::unless_specialised; }) {
    return false;
  } else if constexpr (std::is_aggregate_v<Value>) {
    return has_pointer_member<Value>();
  } else {
    // Lambdas with captures. Not to be asked whether they can be assigned: see byte_copies_of.
    return !std::is_default_constructible_v<Value> && hides_pointer<Value>;
  }
}

template <class... Values>
struct first_pointer_holder : std::type_identity<void> {};
template <class First, class... Others>
struct first_pointer_holder<First, Others...>
    : std::conditional_t<std::is_void_v<pointer_holder_t<First>>, first_pointer_holder<Others...>,
                         pointer_holder<First>> {};

template <class Value, codec_kind Kind>
struct pointer_holder_of_kind : std::type_identity<void> {};
template <class Value>
struct pointer_holder_of_kind<Value, codec_kind::bitwise>
    : std::type_identity<std::conditional_t<embeds_pointer<Value>(), Value, void>> {};
template <template <class...> class Container, class... Elements>
struct pointer_holder_of_kind<Container<Elements...>, codec_kind::standard> : first_pointer_holder<Elements...> {};
template <class Element, std::size_t Size>
struct pointer_holder_of_kind<std::array<Element, Size>, codec_kind::standard> : pointer_holder<Element> {};
template <class Element, std::size_t Extent>
struct pointer_holder_of_kind<std::span<const Element, Extent>, codec_kind::standard> : pointer_holder<Element> {};

/// What std::bind makes of a function or of references; libstdc++ and libc++ name what is bound in its type,
/// libc++ also the result of std::bind<R>, which counts as bound then.
template <class Value>
concept made_by_std_bind = requires {
  requires static_cast<bool>(std::is_bind_expression<Value>::value);
};
template <template <class> class Bind, class Callable, class... Bound>
requires(made_by_std_bind<Bind<Callable(Bound...)>>) struct pointer_holder_of_kind<Bind<Callable(Bound...)>,
                                                                                   codec_kind::bitwise>
    : std::type_identity<
          std::conditional_t<has_pointer_among<member_types<Callable, Bound...>>, Bind<Callable(Bound...)>, void>> {
};
template <template <class...> class Bind, class Result, class Callable, class... Bound>
requires(made_by_std_bind<Bind<Result, Callable(Bound...)>>) struct pointer_holder_of_kind<
    Bind<Result, Callable(Bound...)>, codec_kind::bitwise>
    : std::type_identity<std::conditional_t<has_pointer_among<member_types<Callable, Bound...>>,
                                            Bind<Result, Callable(Bound...)>, void>> {
};
template <template <class...> class Bind, class... Parts>
requires(made_by_std_bind<Bind<Parts...>>) struct pointer_holder_of_kind<Bind<Parts...>, codec_kind::bitwise>
    : std::type_identity<std::conditional_t<has_pointer_among<member_types<Parts...>>, Bind<Parts...>, void>> {
};

template <class Value, bool Class = std::is_class_v<Value> || std::is_union_v<Value>>
struct pointer_holder_of : std::type_identity<void> {};
template <class Value>
struct pointer_holder_of<Value, true>
    : std::conditional_t<std::is_empty_v<Value>, std::type_identity<pointer_holder_of<void>>,
                         std::type_identity<pointer_holder_of_kind<Value, kind_of<Value>()>>>::type {};
template <class Value>
struct pointer_holder : pointer_holder_of<Value> {};

/// Whether a callable is one of which nothing travels but an address: [&k], [this], [p].
template <class Callable>
constexpr bool is_one_address() {
  if constexpr (std::is_class_v<Callable> && !std::is_aggregate_v<Callable> && sizeof(Callable) == sizeof(void*))
    return !std::is_void_v<pointer_holder_t<Callable>>;
  else
    return false;
}
/// The same; to be specialised for classes that hold a callable.
template <class Callable>
struct mere_address : std::bool_constant<is_one_address<Callable>()> {};
template <class Callable>
constexpr bool is_mere_address() {
  return mere_address<Callable>::value;
}

}  // namespace detail

/// Named by the compiler's message when a lambda is to be called on another node that captures an address.
template <class Callable>
struct captures_address {
  static_assert(!detail::is_mere_address<Callable>(),
                "ham: this lambda captures a reference, a pointer or `this`, which means nothing on another node. "
                "Capture the value ([k] instead of [&k], [*this] instead of [this]), or pass a value or a "
                "ham::offload::buffer_ptr as an argument");
};

}  // namespace ham::msg
