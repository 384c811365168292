// The types of the members of an aggregate whose number is known.
#pragma once

#include <cstddef>
#include <utility>

#include "ham/msg/member_list.hpp"

namespace ham::inline v1::msg::detail {

template <class... Members>
struct member_types {};

template <class... Members>
auto member_types_of(const Members&...) -> member_types<Members...>;

// Never called.
#define HAM_MEMBERS(COUNT)                                       \
  if constexpr (Count == COUNT) {                                \
    auto& [HAM_MEMBER_NAMES(COUNT)] = object;                    \
    return decltype(member_types_of(HAM_MEMBER_NAMES(COUNT)))(); \
  }
template <std::size_t Count, class Object>
auto take_apart(Object& object) {
  HAM_FOR_EACH_MEMBER_COUNT(HAM_MEMBERS)
}
#undef HAM_MEMBERS

/// member_types of Object, which has Count members. One that is a reference appears as what it refers to.
template <class Object, std::size_t Count>
using member_types_t = decltype(take_apart<Count>(std::declval<Object&>()));

}  // namespace ham::msg::detail
