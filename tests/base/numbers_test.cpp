// Numbers: digits, for fractions one point, nothing else.
#include "base/numbers.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

TEST(decimal, reads_digits_and_a_point) {
  EXPECT_EQ(parse_decimal("0"), 0.0);
  EXPECT_EQ(parse_decimal("3600"), 3600.0);
  EXPECT_EQ(parse_decimal("10.6"), 10.6);
  EXPECT_EQ(parse_decimal("0.8"), 0.8);
  EXPECT_EQ(parse_decimal(".25"), 0.25);
  EXPECT_EQ(parse_decimal("5."), 5.0);
  EXPECT_EQ(parse_decimal("0.0001"), 0.0001);
}

TEST(decimal, refuses_all_else) {
  for (const char* const text : {"", ".", "1.2.3", "1,5", "-1", "+1", "1e3", " 1", "1 ", "0x10", "inf", "nan"}) {
    EXPECT_FALSE(parse_decimal(text)) << text;
  }
}

TEST(parse_integer, is_within_its_bounds_and_nothing_else) {
  EXPECT_EQ(parse_integer("1", 1, 4096), 1);
  EXPECT_EQ(parse_integer("4096", 1, 4096), 4096);
  for (const char* text : {"", "0", "4097", "-1", "+1", " 1", "1 ", "1s", "0x1", "99999999999999999999"}) {
    EXPECT_FALSE(parse_integer(text, 1, 4096)) << text;
  }
}

TEST(parse_int, is_what_an_int_may_be) {
  EXPECT_EQ(parse_int("-2147483648"), -2147483647 - 1);
  EXPECT_EQ(parse_int("2147483647"), 2147483647);
  for (const char* text : {"", "2147483648", "-2147483649", "99999999999999999999", "1 ", "ten"}) {
    EXPECT_FALSE(parse_int(text)) << text;
  }
}

}  // namespace
}  // namespace ham::base
