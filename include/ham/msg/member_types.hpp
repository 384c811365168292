// The types of the members of an aggregate whose number is known.
#pragma once

#include <cstddef>
#include <utility>

namespace ham::msg::detail {

template <class... Members>
struct member_types {};

template <class... Members>
auto member_types_of(const Members&...) -> member_types<Members...>;

// Only a declaration can give members names: one case for each number. Never called.
#define HAM_MEMBERS(COUNT, ...)                      \
  if constexpr (Count == COUNT) {                    \
    auto& [__VA_ARGS__] = object;                    \
    return decltype(member_types_of(__VA_ARGS__))(); \
  }
template <std::size_t Count, class Object>
auto take_apart(Object& object) {
  HAM_MEMBERS(1, m0)
  HAM_MEMBERS(2, m0, m1)
  HAM_MEMBERS(3, m0, m1, m2)
  HAM_MEMBERS(4, m0, m1, m2, m3)
  HAM_MEMBERS(5, m0, m1, m2, m3, m4)
  HAM_MEMBERS(6, m0, m1, m2, m3, m4, m5)
  HAM_MEMBERS(7, m0, m1, m2, m3, m4, m5, m6)
  HAM_MEMBERS(8, m0, m1, m2, m3, m4, m5, m6, m7)
  HAM_MEMBERS(9, m0, m1, m2, m3, m4, m5, m6, m7, m8)
  HAM_MEMBERS(10, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9)
  HAM_MEMBERS(11, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10)
  HAM_MEMBERS(12, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11)
  HAM_MEMBERS(13, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12)
  HAM_MEMBERS(14, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13)
  HAM_MEMBERS(15, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14)
  HAM_MEMBERS(16, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
  HAM_MEMBERS(17, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16)
  HAM_MEMBERS(18, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17)
  HAM_MEMBERS(19, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18)
  HAM_MEMBERS(20, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19)
  HAM_MEMBERS(21, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20)
  HAM_MEMBERS(22, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21)
  HAM_MEMBERS(23, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21,
              m22)
  HAM_MEMBERS(24, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21,
              m22, m23)
}
#undef HAM_MEMBERS

/// member_types of Object, which has Count members. One that is a reference appears as what it refers to.
template <class Object, std::size_t Count>
using member_types_t = decltype(take_apart<Count>(std::declval<Object&>()));

}  // namespace ham::msg::detail
