// The digest of bytes and texts.
#include "ham/msg/digest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace ham::inline v1::msg {
namespace {

TEST(digest, is_fnv1a) {
  digest_builder builder;
  EXPECT_EQ(to_string(builder.value()), "6c62272e07bb014262b821756295c58d");
  builder.byte('a');
  EXPECT_EQ(to_string(builder.value()), "d228cb696f1a8caf78912b704e4a8964");
}

TEST(digest, of_bytes_is_that_of_each_byte) {
  digest_builder all;
  all.bytes(std::array{std::byte{'a'}, std::byte{0}, std::byte{0xff}});
  digest_builder each;
  for (const int one : {0x61, 0, 0xff}) each.byte(static_cast<std::uint8_t>(one));
  EXPECT_EQ(all.value(), each.value());
  each.byte(0);
  EXPECT_NE(all.value(), each.value());
}

TEST(digest, of_texts_knows_where_each_ends) {
  const auto of = [](std::string_view first, std::string_view second) {
    digest_builder builder;
    builder.text(first);
    builder.text(second);
    return builder.value();
  };
  EXPECT_EQ(of("ab", "c"), of("ab", "c"));
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("", "abc"), of("abc", ""));
}

TEST(digest, is_written_with_all_its_digits) { EXPECT_EQ(to_string({0x1, 0x2}), "00000000000000020000000000000001"); }

}  // namespace
}  // namespace ham::msg
