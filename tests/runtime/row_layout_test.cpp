// Packed bytes of a block and where they lie.
#include "runtime/row_layout.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace ham::inline v1::offload::detail {
namespace {

using run = std::tuple<std::size_t, std::size_t, std::size_t>;

std::vector<run> runs(const row_layout& of, std::size_t from, std::size_t count) {
  std::vector<run> result;
  of.for_each_run(from, count, [&](std::size_t local, std::size_t remote, std::size_t bytes) {
    result.emplace_back(local, remote, bytes);
    return true;
  });
  return result;
}

TEST(row_layout, bytes_that_follow_each_other_are_one_run) {
  EXPECT_EQ(runs({}, 7, 1000), (std::vector<run>{{7, 7, 1000}}));
  EXPECT_EQ(runs({}, 0, 0), (std::vector<run>{{0, 0, 0}})) << "an access of no bytes is still checked";
}

TEST(row_layout, rows_have_a_pitch_on_either_side) {
  const row_layout rows{10, 16, 100};
  EXPECT_EQ(runs(rows, 0, 30), (std::vector<run>{{0, 0, 10}, {16, 100, 10}, {32, 200, 10}}));
  EXPECT_EQ(runs(rows, 10, 10), (std::vector<run>{{16, 100, 10}}));
  EXPECT_EQ(runs(rows, 7, 16), (std::vector<run>{{7, 7, 3}, {16, 100, 10}, {32, 200, 3}}));
  EXPECT_EQ(runs(rows, 12, 3), (std::vector<run>{{18, 102, 3}}));
  EXPECT_TRUE(runs(rows, 12, 0).empty());
}

TEST(row_layout, ends_with_the_first_run_that_fails) {
  int seen = 0;
  row_layout{1, 2, 2}.for_each_run(0, 10, [&](std::size_t, std::size_t, std::size_t) { return ++seen < 3; });
  EXPECT_EQ(seen, 3);
}

TEST(row_layout, extents_have_no_gap_behind_the_last_row) {
  const row_layout rows{10, 16, 100};
  EXPECT_EQ(rows.local_extent(30), 42U);
  EXPECT_EQ(rows.remote_extent(30), 210U);
  EXPECT_EQ(rows.remote_extent(10), 10U);
  EXPECT_EQ(rows.remote_extent(0), 0U);
  EXPECT_EQ(row_layout{}.remote_extent(77), 77U);
}

}  // namespace
}  // namespace ham::offload::detail
