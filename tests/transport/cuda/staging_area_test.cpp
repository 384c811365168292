// Places in memory that is taken once.
#include "transport/cuda/staging_area.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(staging_area, places_do_not_overlap_and_are_used_again) {
  std::vector<std::byte> memory(256);
  staging_area area(memory.data(), memory.size());
  std::byte* const first = area.take(1);
  std::byte* const second = area.take(65);
  EXPECT_EQ(second - first, 64) << "whole lines";
  EXPECT_EQ(area.take(64) - first, 192);
  EXPECT_THROW(static_cast<void>(area.take(1)), std::bad_alloc);
  area.give(first);
  EXPECT_EQ(area.take(64), first);
}

TEST(staging_area, neighbours_become_one_again) {
  std::vector<std::byte> memory(256);
  staging_area area(memory.data(), memory.size());
  std::byte* const all[] = {area.take(64), area.take(64), area.take(64), area.take(64)};
  for (const int i : {1, 3, 0, 2}) area.give(all[i]);
  area.give(all[2]);  // it was given already
  EXPECT_EQ(area.take(256), memory.data());
}

}  // namespace
}  // namespace ham::transport::cuda
