// Buckets of durations: without gaps, and never more than a quarter wide.
#include "base/time_buckets.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

TEST(time_buckets, follow_each_other_without_gaps) {
  for (std::size_t i = 0; i + 1 < time_buckets::count; ++i) {
    EXPECT_EQ(time_buckets::of(time_buckets::begin_of(i)), i);
    EXPECT_EQ(time_buckets::of(time_buckets::end_of(i) - 1), i);
    EXPECT_EQ(time_buckets::end_of(i), time_buckets::begin_of(i + 1));
  }
}

TEST(time_buckets, are_narrow) {
  for (std::size_t i = time_buckets::steps; i < time_buckets::count; ++i)
    EXPECT_LE(4 * time_buckets::end_of(i), 5 * time_buckets::begin_of(i)) << i;
}

TEST(time_buckets, take_every_duration) {
  EXPECT_EQ(time_buckets::of(0), 0U);
  EXPECT_EQ(time_buckets::of(7), 7U);
  EXPECT_EQ(time_buckets::of(8), time_buckets::of(9));
  EXPECT_NE(time_buckets::of(9), time_buckets::of(10));
  EXPECT_EQ(time_buckets::of(UINT64_MAX), time_buckets::count - 1);
  EXPECT_GT(time_buckets::begin_of(time_buckets::count - 1), std::uint64_t{1} << 44);
}

}  // namespace
}  // namespace ham::base
