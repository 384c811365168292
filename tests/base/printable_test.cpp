// Text of other processes in messages for people.
#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

TEST(printable, leaves_text_as_it_is) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("a call with key 7 (\"f\")"), "a call with key 7 (\"f\")");
  EXPECT_EQ(printable("Gr\xc3\xb6\xc3\x9f"
                      "e \xe2\x82\xac"),
            "Gr\xc3\xb6\xc3\x9f"
            "e \xe2\x82\xac");
}

TEST(printable, keeps_terminals_from_obeying) {
  EXPECT_EQ(printable("a\x1b]0;title\x07"
                      "b"),
            "a?]0;title?b");
  EXPECT_EQ(printable(std::string_view("zero\0byte", 9)), "zero?byte");
  EXPECT_EQ(printable("two\nlines\tand\r\x7f"), "two lines and??");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m")
      << "as ESC [ is in Latin 1";
  EXPECT_EQ(printable("\xc2"), "\xc2") << "at the end";
}

TEST(printable, is_bounded) {
  EXPECT_EQ(printable("0123456789", 10), "0123456789");
  EXPECT_EQ(printable("0123456789a", 10), "0123456...");
  EXPECT_EQ(printable(std::string(1 << 20, 'x')).size(), 1000U);
}

}  // namespace
}  // namespace ham::base
