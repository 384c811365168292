// The cursor over bytes that nobody vouches for: it reads what is there and nothing behind the end.
#include "debug_info/bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace ham::inline v1::debug_info {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> result;
  for (const unsigned one : values) result.push_back(static_cast<std::byte>(one));
  return result;
}

template <class Read>
std::string problem_of(Read read) {
  try {
    read();
  } catch (const malformed& problem) {
    return problem.what();
  }
  return "nothing was wrong";
}

TEST(cursor, reads_numbers_in_their_order_and_size) {
  std::array<std::byte, 15> bytes{};
  const std::uint8_t one = 1;
  const std::uint16_t two = 0x0203;
  const std::uint32_t four = 0x04050607;
  const std::uint64_t eight = 0x08090a0b0c0d0e0f;
  std::memcpy(bytes.data(), &one, 1);
  std::memcpy(bytes.data() + 1, &two, 2);
  std::memcpy(bytes.data() + 3, &four, 4);
  std::memcpy(bytes.data() + 7, &eight, 8);
  cursor in(bytes);
  EXPECT_EQ(in.unsigned_of(1), one);
  EXPECT_EQ(in.unsigned_of(2), two);
  EXPECT_EQ(in.unsigned_of(4), four);
  EXPECT_EQ(in.position(), 7U);
  EXPECT_EQ(in.left(), 8U);
  EXPECT_EQ(in.unsigned_of(8), eight);
  EXPECT_TRUE(in.at_end());
  in.seek(0);
  for (const std::size_t size : {0, 3, 5, 16}) EXPECT_THROW((void)in.unsigned_of(size), malformed) << size;
  EXPECT_EQ(in.position(), 0U);
}

TEST(cursor, never_leaves_its_bytes) {
  const auto bytes = bytes_of({1, 2, 3});
  cursor in(bytes);
  EXPECT_EQ(problem_of([&] { (void)in.number<std::uint32_t>(); }), "bytes end too early");
  EXPECT_EQ(in.position(), 0U) << "what failed took nothing";
  EXPECT_THROW(in.skip(4), malformed);
  EXPECT_THROW(in.skip(std::numeric_limits<std::uint64_t>::max()), malformed);
  in.skip(1);
  EXPECT_THROW(in.skip(std::numeric_limits<std::uint64_t>::max()), malformed) << "their sum wraps";
  EXPECT_EQ(problem_of([&] { in.seek(4); }), "an offset leads outside");
  EXPECT_THROW(cursor(bytes, 4), malformed);
  in.seek(3);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.take(0).size(), 0U);
  EXPECT_THROW((void)in.number<std::uint8_t>(), malformed);
  EXPECT_TRUE(cursor({}).at_end());
}

TEST(cursor, reads_numbers_without_sign_of_any_length) {
  const auto bytes = bytes_of({0x00, 0x7f, 0x80, 0x01, 0xe5, 0x8e, 0x26, 0x85, 0x80, 0x00});
  cursor in(bytes);
  EXPECT_EQ(in.uleb(), 0U);
  EXPECT_EQ(in.uleb(), 127U);
  EXPECT_EQ(in.uleb(), 128U);
  EXPECT_EQ(in.uleb(), 624485U);
  EXPECT_EQ(in.uleb(), 5U) << "with padding";
  EXPECT_TRUE(in.at_end());
}

TEST(cursor, reads_numbers_with_sign_of_any_length) {
  const auto bytes = bytes_of({0x00, 0x3f, 0x40, 0x7f, 0x80, 0x7f, 0xc0, 0x00, 0x9b, 0xf1, 0x59});
  cursor in(bytes);
  for (const std::int64_t expected : {0, 63, -64, -1, -128, 64, -624485}) EXPECT_EQ(in.sleb(), expected);
  EXPECT_TRUE(in.at_end());
}

TEST(cursor, numbers_as_long_as_they_may_be_keep_all_bits) {
  std::vector<std::byte> bytes(9, std::byte{0xff});
  bytes.push_back(std::byte{0x01});
  EXPECT_EQ(cursor(bytes).uleb(), std::numeric_limits<std::uint64_t>::max());
  std::vector<std::byte> smallest(9, std::byte{0x80});
  smallest.push_back(std::byte{0x7f});
  EXPECT_EQ(cursor(smallest).sleb(), std::numeric_limits<std::int64_t>::min());
}

TEST(cursor, numbers_that_are_longer_lose_bits_or_end_too_early) {
  std::vector<std::byte> endless(1000, std::byte{0x80});
  EXPECT_THROW((void)cursor(endless).uleb(), malformed);
  EXPECT_THROW((void)cursor(endless).sleb(), malformed);
  endless.push_back(std::byte{0x01});
  EXPECT_EQ(cursor(endless).uleb(), 0U);
  EXPECT_EQ(cursor(endless).sleb(), 0);
}

TEST(cursor, reads_texts_that_end) {
  const auto bytes = bytes_of({'a', 'b', 0, 0, 'c'});
  cursor in(bytes);
  EXPECT_EQ(in.text(), "ab");
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(problem_of([&] { (void)in.text(); }), "a text does not end");
  in.seek(5);
  EXPECT_THROW((void)in.text(), malformed);
}

}  // namespace
}  // namespace ham::debug_info
