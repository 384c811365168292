// Vectors that loops go over together.
#include "vector_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace cg {
namespace {

TEST(vector_set, vectors_are_zero_and_apart) {
  vector_set vectors(3, 100);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(vectors[i].size(), 100U);
    EXPECT_TRUE(std::all_of(vectors[i].begin(), vectors[i].end(), [](double element) { return element == 0.0; }));
    std::fill(vectors[i].begin(), vectors[i].end(), static_cast<double>(i + 1));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(vectors[i].front(), static_cast<double>(i + 1));
    EXPECT_EQ(vectors[i].back(), static_cast<double>(i + 1));
  }
}

TEST(vector_set, none_begins_at_the_same_place_of_a_page_as_another) {
  for (const std::size_t rows : {0U, 1U, 511U, 512U, 513U, 90000U}) {
    vector_set vectors(4, rows);
    std::set<std::uintptr_t> places;
    for (std::size_t i = 0; i < 4; ++i) places.insert(reinterpret_cast<std::uintptr_t>(vectors[i].data()) % 4096);
    EXPECT_EQ(places.size(), 4U) << rows << " rows";
  }
}

}  // namespace
}  // namespace cg
