// Names for the members of an aggregate. Only a declaration can give them, and only as many as there are members: one
// case for each number, at most max_listed_members.
#pragma once

#include <cstddef>

namespace ham::msg::detail {

inline constexpr std::size_t max_listed_members = 24;

}  // namespace ham::msg::detail

// HAM_MEMBERS_AFTER_FIRST_n(DO) is DO(m1) DO(m2) ... DO(m<n-1>): the first member is apart, because no comma stands
// before it.
#define HAM_MEMBERS_AFTER_FIRST_1(DO)
#define HAM_MEMBERS_AFTER_FIRST_2(DO) HAM_MEMBERS_AFTER_FIRST_1(DO) DO(m1)
#define HAM_MEMBERS_AFTER_FIRST_3(DO) HAM_MEMBERS_AFTER_FIRST_2(DO) DO(m2)
#define HAM_MEMBERS_AFTER_FIRST_4(DO) HAM_MEMBERS_AFTER_FIRST_3(DO) DO(m3)
#define HAM_MEMBERS_AFTER_FIRST_5(DO) HAM_MEMBERS_AFTER_FIRST_4(DO) DO(m4)
#define HAM_MEMBERS_AFTER_FIRST_6(DO) HAM_MEMBERS_AFTER_FIRST_5(DO) DO(m5)
#define HAM_MEMBERS_AFTER_FIRST_7(DO) HAM_MEMBERS_AFTER_FIRST_6(DO) DO(m6)
#define HAM_MEMBERS_AFTER_FIRST_8(DO) HAM_MEMBERS_AFTER_FIRST_7(DO) DO(m7)
#define HAM_MEMBERS_AFTER_FIRST_9(DO) HAM_MEMBERS_AFTER_FIRST_8(DO) DO(m8)
#define HAM_MEMBERS_AFTER_FIRST_10(DO) HAM_MEMBERS_AFTER_FIRST_9(DO) DO(m9)
#define HAM_MEMBERS_AFTER_FIRST_11(DO) HAM_MEMBERS_AFTER_FIRST_10(DO) DO(m10)
#define HAM_MEMBERS_AFTER_FIRST_12(DO) HAM_MEMBERS_AFTER_FIRST_11(DO) DO(m11)
#define HAM_MEMBERS_AFTER_FIRST_13(DO) HAM_MEMBERS_AFTER_FIRST_12(DO) DO(m12)
#define HAM_MEMBERS_AFTER_FIRST_14(DO) HAM_MEMBERS_AFTER_FIRST_13(DO) DO(m13)
#define HAM_MEMBERS_AFTER_FIRST_15(DO) HAM_MEMBERS_AFTER_FIRST_14(DO) DO(m14)
#define HAM_MEMBERS_AFTER_FIRST_16(DO) HAM_MEMBERS_AFTER_FIRST_15(DO) DO(m15)
#define HAM_MEMBERS_AFTER_FIRST_17(DO) HAM_MEMBERS_AFTER_FIRST_16(DO) DO(m16)
#define HAM_MEMBERS_AFTER_FIRST_18(DO) HAM_MEMBERS_AFTER_FIRST_17(DO) DO(m17)
#define HAM_MEMBERS_AFTER_FIRST_19(DO) HAM_MEMBERS_AFTER_FIRST_18(DO) DO(m18)
#define HAM_MEMBERS_AFTER_FIRST_20(DO) HAM_MEMBERS_AFTER_FIRST_19(DO) DO(m19)
#define HAM_MEMBERS_AFTER_FIRST_21(DO) HAM_MEMBERS_AFTER_FIRST_20(DO) DO(m20)
#define HAM_MEMBERS_AFTER_FIRST_22(DO) HAM_MEMBERS_AFTER_FIRST_21(DO) DO(m21)
#define HAM_MEMBERS_AFTER_FIRST_23(DO) HAM_MEMBERS_AFTER_FIRST_22(DO) DO(m22)
#define HAM_MEMBERS_AFTER_FIRST_24(DO) HAM_MEMBERS_AFTER_FIRST_23(DO) DO(m23)
#define HAM_MEMBER_AFTER_COMMA(NAME) , NAME

// "m0, m1, ..." of COUNT members, and DO(m0) DO(m1) ...
#define HAM_MEMBER_NAMES(COUNT) m0 HAM_MEMBERS_AFTER_FIRST_##COUNT(HAM_MEMBER_AFTER_COMMA)
#define HAM_FOR_EACH_MEMBER(COUNT, DO) DO(m0) HAM_MEMBERS_AFTER_FIRST_##COUNT(DO)

// DO(1) DO(2) ... DO(24)
#define HAM_FOR_EACH_MEMBER_COUNT(DO)                                                                                 \
  DO(1)                                                                                                               \
  DO(2)                                                                                                               \
  DO(3)                                                                                                               \
  DO(4)                                                                                                               \
  DO(5)                                                                                                               \
  DO(6)                                                                                                               \
  DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) \
      DO(24)
