#include "base/extent_list.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace ham::inline v1::base {
namespace {

TEST(extent_list, gives_the_first_part_that_is_long_enough) {
  extent_list free;
  EXPECT_FALSE(free.take(1));
  free.add_free(100, 10);
  free.add_free(200, 50);
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
  free.add_free(0, 10);
  free.add_free(20, 10);
  EXPECT_FALSE(free.take(30));
  free.add_free(10, 10);
  EXPECT_EQ(free.take(30), 0U);
}

TEST(extent_list, takes_back_what_it_never_had_free) {
  extent_list free;
  free.add_used(64, 32);
  EXPECT_FALSE(free.take(1)) << "it is in use";
  free.give(64);
  EXPECT_EQ(free.take(32), 64U);
}

TEST(extent_list, ignores_what_is_not_in_use) {
  extent_list free;
  free.add_free(0, 30);
  ASSERT_EQ(free.take(10), 0U);
  free.give(5);   // within a part
  free.give(10);  // free
  free.give(0);
  free.give(0);  // twice
  EXPECT_EQ(free.take(30), 0U);
  EXPECT_FALSE(free.take(1));
}

TEST(extent_list, never_gives_a_byte_twice) {
  constexpr std::uint64_t all = 4096;
  extent_list free;
  free.add_free(0, all);
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
      free.give(which->first);
      taken.erase(which);
    }
  }
  for (const auto& [at, size] : taken) free.give(at);
  EXPECT_EQ(free.take(all), 0U) << "all of it is one part again";
}

}  // namespace
}  // namespace ham::base
