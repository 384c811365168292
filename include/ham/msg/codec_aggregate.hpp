// Codec of aggregates that are more than their bytes: struct { std::string name; double x; } crosses member by member.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/aggregate_members.hpp"
#include "ham/msg/codec_user.hpp"
#include "ham/msg/embedded_pointers.hpp"

namespace ham::inline v1::msg::detail {

/// Whether nothing but its members can say how Value crosses.
template <class Value>
consteval bool is_plain_aggregate() {
  if constexpr (!std::is_class_v<Value> || !std::is_aggregate_v<Value>) {
    return false;
  } else if constexpr (has_user_codec<Value> || has_standard_codec<Value> || has_own_migratable<Value>()) {
    return false;
  } else if constexpr (!requires { typename is_bitwise_copyable<Value>::unless_specialised; }) {
    return false;
  } else {
    return !std::is_trivially_copyable_v<Value> && !has_own_fields<Value>() && !has_serialize<Value>() &&
           !has_free_serialize<Value>();
  }
}

template <class Part, class... Seen>
consteval bool leads_to();
template <class Members, class... Seen>
inline constexpr bool one_leads_to = false;
template <class... Members, class... Seen>
inline constexpr bool one_leads_to<member_types<Members...>, Seen...> = (leads_to<Members, Seen...>() || ...);
template <class Part, class... Seen>
inline constexpr bool argument_leads_to = false;
template <template <class...> class Container, class... Arguments, class... Seen>
inline constexpr bool argument_leads_to<Container<Arguments...>, Seen...> = (leads_to<Arguments, Seen...>() || ...);
template <class Element, std::size_t Size, class... Seen>
inline constexpr bool argument_leads_to<std::array<Element, Size>, Seen...> = leads_to<Element, Seen...>();

/// Whether an object of Part may contain one of Seen, as an element of a container, too.
template <class Part, class... Seen>
consteval bool leads_to() {
  using part = std::remove_cv_t<std::remove_all_extents_t<std::remove_reference_t<Part>>>;
  if constexpr ((std::is_same_v<part, Seen> || ...)) {
    return true;
  } else if constexpr (!std::is_class_v<part> || !requires { sizeof(part); }) {
    return false;
  } else if constexpr (argument_leads_to<part, Seen...>) {
    return true;
  } else if constexpr (is_plain_aggregate<part>()) {
    constexpr std::size_t count = value_member_count<part>();
    if constexpr (count != 0) return one_leads_to<declared_members_t<part, count>, Seen..., part>;
    return false;
  } else {
    return false;
  }
}

/// Whether a member of that type crosses: not what refers to other memory, nor what holds a pointer. Such classes were
/// never sent, so that a warning as for those that cross by their bytes is not enough.
template <class Member>
consteval bool member_crosses() {
  using value = std::remove_cv_t<std::remove_all_extents_t<Member>>;
  if constexpr (std::is_reference_v<Member> || std::is_volatile_v<Member>)
    return false;
  else if constexpr (!storable_v<value>)
    return false;
  else
    return std::is_void_v<pointer_holder_t<value>>;
}

/// The type of the first member that does not cross; void if all do.
template <class Members>
struct first_bad_member : std::type_identity<void> {};
template <class First, class... Others>
struct first_bad_member<member_types<First, Others...>>
    : std::conditional_t<member_crosses<First>(), first_bad_member<member_types<Others...>>,
                         std::type_identity<First>> {};

/// What a plain aggregate consists of. `bad` is the type of a member that cannot cross, or void. Aggregates that
/// contain themselves, in a container, are not looked into, which would have no end: the error comes when they are
/// used.
template <class Value, std::size_t Count = value_member_count<Value>()>
struct aggregate_parts {
  using members = declared_members_t<Value, Count>;
  using bad = typename std::conditional_t<one_leads_to<members, Value>, std::type_identity<void>,
                                          first_bad_member<members>>::type;
};
template <class Value>
struct aggregate_parts<Value, 0> {
  using bad = Value;
};

template <class Value>
consteval bool crosses_as_aggregate() {
  if constexpr (!is_plain_aggregate<Value>())
    return false;
  else
    return std::is_move_constructible_v<Value> && std::is_void_v<typename aggregate_parts<Value>::bad>;
}

template <class Value>
consteval aggregate_problem problem_of_aggregate() {
  if constexpr (!is_plain_aggregate<Value>())
    return aggregate_problem::none;
  else if constexpr (has_base<Value>())
    return aggregate_problem::base;
  else if constexpr (value_member_count<Value>() == 0)
    return aggregate_problem::unknown_members;
  else
    return aggregate_problem::member;
}
template <class Value>
struct bad_member_of : std::type_identity<typename aggregate_parts<Value>::bad> {};

/// Reads members in order.
struct member_reader {
  reader& from;
  template <class Member>
  auto value() const {
    return decode<std::remove_cv_t<Member>>(from);
  }
  template <class Member>
  void into(Member& member) const {
    decode_into(from, member);
  }
};

template <class Value, class Members>
struct aggregate_codec;
template <class Value, class... Members>
struct aggregate_codec<Value, member_types<Members...>> {
  static constexpr std::size_t count = sizeof...(Members);
  using list = field_list<std::tuple<const Members&...>>;
  static constexpr bool fixed = list::fixed;
  static constexpr std::size_t min_size = list::min_size;
  static constexpr std::size_t fixed_size = min_size;
  static constexpr bool bulk = false;
  using nesting_guard = std::conditional_t<fixed, reader::unnested, reader::nested>;

  static std::size_t size(const Value& value) {
    const sizing_nested guard;
    return with_members<count>(value,
                               [](const auto&... member) { return (std::size_t{0} + ... + encoded_size(member)); });
  }
  static void write(writer& to, const Value& value) {
    with_members<count>(value, [&](const auto&... member) { (encode(to, member), ...); });
  }
  static Value read(reader& from) {
    [[maybe_unused]] const nesting_guard guard(from);
    if constexpr ((std::is_array_v<Members> || ...)) {
      static_assert(std::is_default_constructible_v<Value> && (!std::is_const_v<Members> && ...),
                    "ham: a class with array members must be default constructible, and have no const members, to be "
                    "received. Give it a ham::codec");
      Value value{};
      assign_members<count>(value, member_reader{from});
      return value;
    } else {
      return Value{decode<std::remove_const_t<Members>>(from)...};  // braces keep the order
    }
  }
  static void layout(std::string& to) {
    const describing<Value> mark;
    append(to, "fields<");
    append_name<Value>(to);
    if (mark.first()) list::layout(to);
    append(to, ">");
  }
};

template <class Value>
struct codec_of_kind<Value, codec_kind::aggregate>
    : aggregate_codec<Value, declared_members_t<Value, value_member_count<Value>()>> {};

}  // namespace ham::msg::detail
