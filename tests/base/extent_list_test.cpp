#include "base/extent_list.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace ham::inline v0::base {
namespace {

TEST(extent_list, gives_the_first_part_that_is_long_enough) {
  extent_list free;
  EXPECT_FALSE(free.take(1));
  free.give(100, 10);
  free.give(200, 50);
  EXPECT_EQ(free.take(20), 200U);
  EXPECT_EQ(free.take(20), 220U);
  EXPECT_EQ(free.take(4), 100U);
  EXPECT_EQ(free.take(6), 104U);
  EXPECT_FALSE(free.take(11)) << "ten are left, in one place";
  EXPECT_EQ(free.take(10), 240U);
  EXPECT_FALSE(free.take(1));
}

TEST(extent_list, joins_neighbours) {
  extent_list free;
  free.give(0, 10);
  free.give(20, 10);
  EXPECT_FALSE(free.take(30));
  free.give(10, 10);
  EXPECT_EQ(free.take(30), 0U);
}

TEST(extent_list, never_gives_a_byte_twice) {
  constexpr std::uint64_t all = 4096;
  extent_list free;
  free.give(0, all);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> taken;
  for (int i = 0; i < 20'000; ++i) {
    if (taken.empty() || random() % 2 == 0) {
      const std::uint64_t size = 1 + random() % 300;
      const auto at = free.take(size);
      if (!at) continue;
      ASSERT_LE(*at + size, all);
      const auto after = taken.lower_bound(*at);
      ASSERT_TRUE(after == taken.end() || *at + size <= after->first);
      ASSERT_TRUE(after == taken.begin() || std::prev(after)->first + std::prev(after)->second <= *at);
      taken.emplace(*at, size);
    } else {
      const auto which = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      free.give(which->first, which->second);
      taken.erase(which);
    }
  }
  for (const auto& [at, size] : taken) free.give(at, size);
  EXPECT_EQ(free.take(all), 0U) << "all of it is one part again";
}

}  // namespace
}  // namespace ham::base
