#include "trace/lanes.hpp"

#include <gtest/gtest.h>

namespace {

using ham::trace::lanes;

TEST(lanes, overlapping_slices_have_lanes_of_their_own) {
  lanes free(2);
  EXPECT_EQ(free.place(0, 10), 0U);
  EXPECT_EQ(free.place(5, 15), 1U);
  EXPECT_EQ(free.place(7, 9), std::nullopt);
  EXPECT_EQ(free.place(10, 12), 0U) << "the first has ended";
  EXPECT_EQ(free.size(), 2U);
}

}  // namespace
