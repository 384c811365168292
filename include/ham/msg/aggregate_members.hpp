// The members of an aggregate that crosses member by member: how many there are, of which types, and the objects.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/member_list.hpp"
#include "ham/msg/member_types.hpp"
#include "ham/msg/object_layout.hpp"

namespace ham::inline v1::msg::detail {

// Only text between braces can stand for a member of any type, arrays included, and no pack can make it.
#define HAM_BRACES(NAME) \
  , {}
#define HAM_TAKES_BRACES(COUNT)                               \
  if constexpr (Count == COUNT) return requires {             \
      Object{{} HAM_MEMBERS_AFTER_FIRST_##COUNT(HAM_BRACES)}; \
    };
#define HAM_TAKES_AFTER_BRACES(COUNT)                                 \
  if constexpr (Count == COUNT) return requires {                     \
      Object{{} HAM_MEMBERS_AFTER_FIRST_##COUNT(HAM_BRACES), Last{}}; \
    };

/// Whether Object{{}, {}, ... Count of them} compiles.
template <class Object, std::size_t Count>
constexpr bool takes_braces() {
  HAM_FOR_EACH_MEMBER_COUNT(HAM_TAKES_BRACES)
  HAM_TAKES_BRACES(33)
}
static_assert(max_listed_members == 32);

/// Whether Object{{}, {}, ... Count of them, Last{}} compiles.
template <class Object, class Last, std::size_t Count>
constexpr bool takes_after_braces() {
  if constexpr (Count == 0) return requires {
      Object{Last{}};
    };
  HAM_FOR_EACH_MEMBER_COUNT(HAM_TAKES_AFTER_BRACES)
}
#undef HAM_TAKES_BRACES
#undef HAM_TAKES_AFTER_BRACES
#undef HAM_BRACES

/// How many members of Object may be written as {}, up to one more than can be listed.
template <class Object, std::size_t Count = 0>
constexpr std::size_t braced_members() {
  if constexpr (Count > max_listed_members) {
    return Count;
  } else if constexpr (takes_braces<Object, Count + 1>()) {
    return braced_members<Object, Count + 1>();
  } else {
    return Count;
  }
}

/// Whether one of the first Count members is a union: those without a name cannot be taken apart.
template <class Object, std::size_t Count>
constexpr bool has_union_among() {
  if constexpr (Count == 0)
    return false;
  else if constexpr (takes_after_braces<Object, any_union, Count - 1>())
    return true;
  else
    return has_union_among<Object, Count - 1>();
}

/// Whether the aggregate Object has a base class, which then comes before its members.
template <class Object>
constexpr bool has_base() {
  return takes_then<Object>(std::index_sequence<>(), std::type_identity<any_base<Object>>());
}

/// Number of members of an aggregate that can be taken apart; 0 if there are none or it is not certain.
template <class Object>
constexpr std::size_t value_member_count() {
  if constexpr (!std::is_class_v<Object> || !std::is_aggregate_v<Object>) {
    return 0;
  } else if constexpr (requires { std::tuple_size<Object>::value; }) {
    return 0;
  } else if constexpr (has_base<Object>()) {
    return 0;
  } else {
    constexpr std::size_t count = braced_members<Object>();
    if constexpr (count == 0 || count > max_listed_members) {
      return count == 0 ? member_count<Object>() : 0;  // a member without a default constructor
    } else if constexpr (takes_after_braces<Object, any_member<Object>, count>()) {
      return member_count<Object>();
    } else {
      return has_union_among<Object, count>() ? 0 : count;
    }
  }
}

// Never called.
#define HAM_DECLTYPE_AFTER_COMMA(NAME) , decltype(NAME)
#define HAM_DECLARED(COUNT)                                                                                            \
  if constexpr (Count == COUNT) {                                                                                      \
    auto& [HAM_MEMBER_NAMES(COUNT)] = object;                                                                          \
    return std::type_identity<member_types<decltype(m0) HAM_MEMBERS_AFTER_FIRST_##COUNT(HAM_DECLTYPE_AFTER_COMMA)>>(); \
  }
template <std::size_t Count, class Object>
auto declare_members(Object& object) {
  HAM_FOR_EACH_MEMBER_COUNT(HAM_DECLARED)
}
#undef HAM_DECLARED
#undef HAM_DECLTYPE_AFTER_COMMA

/// member_types of Object, which has Count members, as they are declared: with const and reference.
template <class Object, std::size_t Count>
using declared_members_t = typename decltype(declare_members<Count>(std::declval<Object&>()))::type;

#define HAM_USE_MEMBERS(COUNT)                \
  if constexpr (Count == COUNT) {             \
    auto& [HAM_MEMBER_NAMES(COUNT)] = object; \
    return use(HAM_MEMBER_NAMES(COUNT));      \
  }
/// use(members of object...), of which there are Count. A bit-field is seen as a copy, so `use` takes const references.
template <std::size_t Count, class Object, class Use>
constexpr auto with_members(const Object& object, Use&& use) {
  HAM_FOR_EACH_MEMBER_COUNT(HAM_USE_MEMBERS)
}
#undef HAM_USE_MEMBERS

// By name, because a bit-field can be assigned to, but no reference to it be passed on.
#define HAM_ASSIGN_MEMBER(NAME)                  \
  if constexpr (std::is_array_v<decltype(NAME)>) \
    read.into(NAME);                             \
  else                                           \
    NAME = read.template value<decltype(NAME)>();
#define HAM_ASSIGN_MEMBERS(COUNT)                 \
  if constexpr (Count == COUNT) {                 \
    auto& [HAM_MEMBER_NAMES(COUNT)] = object;     \
    HAM_FOR_EACH_MEMBER(COUNT, HAM_ASSIGN_MEMBER) \
  }
/// read.into(member) for arrays, member = read.value<Member>() for others, in the order of their declaration.
template <std::size_t Count, class Object, class Read>
void assign_members(Object& object, Read read) {
  HAM_FOR_EACH_MEMBER_COUNT(HAM_ASSIGN_MEMBERS)
}
#undef HAM_ASSIGN_MEMBERS
#undef HAM_ASSIGN_MEMBER

}  // namespace ham::msg::detail
