#include "runtime/device_rows.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace ham::inline v1::detail {
namespace {

using direction = transport::device_copy::direction;

std::vector<transport::device_copy> copies_of(const device_rows& rows, std::byte* host, std::size_t count) {
  std::vector<transport::device_copy> result;
  rows.for_each_copy(direction::to_device, host, count,
                     [&](const transport::device_copy& one) { result.push_back(one); });
  return result;
}

TEST(device_rows, without_gaps_are_one_copy) {
  std::byte host[8];
  for (const device_rows& rows : {device_rows{1000}, device_rows{1000, 2, 2}}) {
    const auto copies = copies_of(rows.behind(4), host, 8);
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].device, 1004U);
    EXPECT_EQ(copies[0].host, host);
    EXPECT_EQ(copies[0].bytes(), 8U);
  }
}

TEST(device_rows, are_up_to_three_copies_which_bring_every_byte_to_its_place) {
  constexpr std::size_t row_bytes = 5;
  constexpr std::size_t pitch = 8;
  constexpr std::size_t all = 6 * row_bytes;
  std::byte host[all];
  for (std::size_t from = 0; from < all; ++from) {
    for (std::size_t count = 0; from + count <= all; ++count) {
      const auto copies = copies_of(device_rows{1000, row_bytes, pitch}.behind(from), host, count);
      EXPECT_LE(copies.size(), 3U);
      std::size_t packed = from;
      for (const transport::device_copy& one : copies) {
        EXPECT_EQ(one.host, host + (packed - from));
        for (std::size_t row = 0; row < one.rows; ++row) {
          for (std::size_t byte = 0; byte < one.row_bytes; ++byte, ++packed)
            ASSERT_EQ(one.device + row * one.pitch + byte, 1000 + packed / row_bytes * pitch + packed % row_bytes);
        }
      }
      EXPECT_EQ(packed, from + count);
    }
  }
}

}  // namespace
}  // namespace ham::detail
