#include "trace/protobuf.hpp"

#include <gtest/gtest.h>

#include "trace/proto_fields.hpp"

namespace {

using ham::test::proto_fields;
using ham::trace::protobuf;

/// Bytes as a text of hexadecimal digits.
std::string hexadecimal_of(const protobuf& what) {
  std::string text;
  for (const char c : what.bytes()) {
    constexpr char digits[] = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 0xfU];
  }
  return text;
}

TEST(protobuf, has_the_bytes_of_the_documentation) {  // protobuf.dev/programming-guides/encoding
  protobuf one;
  one.number(1, 150);
  EXPECT_EQ(hexadecimal_of(one), "089601");
  protobuf two;
  two.text(2, "testing");
  EXPECT_EQ(hexadecimal_of(two), "120774657374696e67");
  protobuf three;
  three.message(3, one);
  EXPECT_EQ(hexadecimal_of(three), "1a03089601");
}

TEST(protobuf, writes_numbers_of_every_size) {
  protobuf one;
  one.number(1, 0);
  one.number(2, UINT64_MAX);
  one.signed_number(3, -2);
  one.fixed(48, 0x0102030405060708);
  one.real(44, -1.5);
  const proto_fields read(one.bytes());
  EXPECT_TRUE(read.has(1));
  EXPECT_EQ(read.number(2), UINT64_MAX);
  EXPECT_EQ(static_cast<std::int64_t>(read.number(3)), -2);
  EXPECT_EQ(read.number(48), 0x0102030405060708U);
  EXPECT_EQ(read.real(44), -1.5);
}

TEST(protobuf, writes_long_texts) {
  protobuf one;
  one.text(5, std::string(300, 'x'));
  EXPECT_EQ(proto_fields(one.bytes()).text(5), std::string(300, 'x'));
}

TEST(protobuf, can_be_used_again) {
  protobuf one;
  one.number(1, 1);
  one.clear();
  EXPECT_TRUE(one.empty());
  one.number(2, 2);
  EXPECT_EQ(hexadecimal_of(one), "1002");
}

}  // namespace
