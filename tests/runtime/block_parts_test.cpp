// Blocks of rows in parts: every byte belongs to one of them, and none is longer than it may be.
#include "runtime/block_parts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ham::inline v1::offload::detail {
namespace {

std::vector<copied_part> parts_of(const block_rows& what, std::size_t max_bytes) {
  std::vector<copied_part> result;
  for_each_part(what, max_bytes, [&](const copied_part& one) { result.push_back(one); });
  return result;
}

TEST(block_parts, have_all_of_a_row_where_those_are_short) {
  const auto all = parts_of({10, 30, 40, 50}, 100);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].row, 3U);
  EXPECT_EQ(all[1].rows, 3U);
  EXPECT_EQ(all[1].bytes(), 90U);
  EXPECT_EQ(all[1].place(1000, 40), 1120U);
  EXPECT_EQ(all[3].rows, 1U);
}

TEST(block_parts, are_parts_of_a_row_where_that_is_long) {
  const auto all = parts_of({2, 250, 300, 250}, 100);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[2].bytes(), 50U);
  EXPECT_EQ(all[4].place(1000, 300), 1400U);
  for (const copied_part& one : all) EXPECT_EQ(one.rows, 1U);
}

TEST(block_parts, cover_each_byte_once) {
  for (const std::size_t max_bytes : {1U, 7U, 64U, 1000U}) {
    std::vector<int> seen(20 * 33);
    for (const copied_part& one : parts_of({20, 31, 33, 31}, max_bytes)) {
      EXPECT_LE(one.bytes(), max_bytes);
      for (std::size_t row = 0; row < one.rows; ++row)
        for (std::size_t i = 0; i < one.row_bytes; ++i) ++seen[one.place(0, 33) + row * 33 + i];
    }
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i % 33 < 31 ? 1 : 0) << i << " of " << max_bytes;
  }
}

TEST(block_parts, of_nothing_are_none) {
  EXPECT_TRUE(parts_of({0, 30, 40, 50}, 100).empty());
  EXPECT_TRUE(parts_of({10, 0, 40, 50}, 100).empty());
}

TEST(block_parts, are_packed_on_one_side) {
  const copied_part some{3, 0, 4, 10};
  EXPECT_EQ(some.from_packed(25).target_pitch, 25U);
  EXPECT_EQ(some.from_packed(25).source_pitch, 10U);
  EXPECT_EQ(some.to_packed(25).source_pitch, 25U);
  EXPECT_EQ(some.from_packed(10).rows, 1U) << "rows without gaps are one";
  EXPECT_EQ(some.on_device(100, 25).address, 175U);
  EXPECT_EQ(some.on_device(100, 25).pitch, 25U);
}

}  // namespace
}  // namespace ham::offload::detail
