// Which bracket closes which.
#include "msg/bracket_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ham::inline v1::msg {
namespace {

/// Place of the bracket that closes the one at `open`; npos: none.
std::size_t closing(std::string_view text, std::size_t open) {
  const bracket_table table(text);
  const char* const at = table.closing(text.data() + open);
  return at == nullptr ? std::string_view::npos : static_cast<std::size_t>(at - text.data());
}

TEST(bracket_table, nests) {
  EXPECT_EQ(closing("a<b<c>,d(e)>", 1), 11U);
  EXPECT_EQ(closing("a<b<c>,d(e)>", 3), 5U);
  EXPECT_EQ(closing("a<b<c>,d(e)>", 8), 10U);
  EXPECT_EQ(closing("{[()]}", 0), 5U);
}

TEST(bracket_table, leaves_out_operators_and_arrows) {
  EXPECT_EQ(closing("f<&operator< >", 1), 13U);
  EXPECT_EQ(closing("f<&operator<<>", 1), 13U);
  EXPECT_EQ(closing("f<&x::operator->>", 1), 16U);
  EXPECT_EQ(closing("f<&operator< >", 11), std::string_view::npos);
}

TEST(bracket_table, of_what_is_not_closed_or_no_bracket) {
  EXPECT_EQ(closing("a<b", 1), std::string_view::npos);
  EXPECT_EQ(closing("a>b<", 3), std::string_view::npos);
  EXPECT_EQ(closing("abc", 1), std::string_view::npos);
  EXPECT_EQ(closing(">>><>", 3), 4U) << "what closes nothing does no harm";
}

}  // namespace
}  // namespace ham::msg
