// Types: how registers hold them, and which lead to the same call.
#include "debug_info/type.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::debug_info {
namespace {

type number(type_kind kind, std::size_t size) {
  type result;
  result.kind = kind;
  result.size = size;
  return result;
}

TEST(type, is_held_by_a_register_or_not) {
  EXPECT_EQ(register_kind(number(type_kind::floating, 4)), type_kind::floating);
  EXPECT_EQ(register_kind(number(type_kind::pointer, 8)), type_kind::pointer);
  EXPECT_EQ(register_kind(number(type_kind::structure, 8)), type_kind::nothing);
  EXPECT_EQ(register_kind(number(type_kind::complex, 8)), type_kind::nothing);
  type handle = number(type_kind::opaque, 4);
  EXPECT_EQ(register_kind(handle), type_kind::nothing);
  handle.passed_as = type_kind::signed_integer;
  EXPECT_EQ(register_kind(handle), type_kind::signed_integer);
}

TEST(type, leads_to_the_same_call_by_kind_and_size) {
  type a = number(type_kind::signed_integer, 4);
  type b = a;
  b.name = "another name";
  EXPECT_TRUE(same_call(a, b));
  b.size = 8;
  EXPECT_FALSE(same_call(a, b));
  EXPECT_FALSE(same_call(signature{{}, {a}, ""}, signature{{}, {a, b}, ""}));
}

TEST(type, is_shown_with_the_names_of_its_source) {
  type real = number(type_kind::floating, 8);
  real.name = "double";
  EXPECT_EQ(to_string(signature{real, {real, real}, ""}), "double (double, double)");
}

}  // namespace
}  // namespace ham::debug_info
