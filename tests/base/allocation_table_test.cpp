#include "base/allocation_table.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ham::inline v1::base {
namespace {

TEST(allocation_table, names_what_lives) {
  allocation_table table(1000);
  const allocation_tag one = table.add(0, 10, 64);
  const allocation_tag two = table.add(64, 0, 64);
  EXPECT_NE(one, 0U);
  EXPECT_NE(one, two);
  EXPECT_EQ(table.live(), 2U);
  EXPECT_EQ(table.tag_of(999), 0U);
  EXPECT_EQ(table.tag_of(1000), one);
  EXPECT_EQ(table.tag_of(1009), one);
  EXPECT_EQ(table.tag_of(1010), 0U);
  EXPECT_EQ(table.tag_of(1064), two) << "of no bytes, but it is there";
  ASSERT_NE(table.find(1000, one), nullptr);
  EXPECT_EQ(table.find(1000, one)->extent, 64U);
  EXPECT_EQ(table.find(1001, one), nullptr);
  EXPECT_EQ(table.find(1000, two), nullptr);
  EXPECT_EQ(table.find(1000, 0), nullptr);
}

TEST(allocation_table, checks_ranges) {
  allocation_table table(1000);
  const allocation_tag tag = table.add(64, 10, 64);
  EXPECT_EQ(table.check(1064, tag, 10), heap_check::valid);
  EXPECT_EQ(table.check(1074, tag, 0), heap_check::valid);
  EXPECT_EQ(table.check(1063, tag, 1), heap_check::out_of_range);
  EXPECT_EQ(table.check(1065, tag, 10), heap_check::out_of_range);
  EXPECT_EQ(table.check(1064, tag, std::numeric_limits<std::size_t>::max()), heap_check::out_of_range);
  EXPECT_EQ(table.check(std::numeric_limits<std::uint64_t>::max(), tag, 2), heap_check::out_of_range);
  EXPECT_EQ(table.check(1064, tag + 1, 1), heap_check::stale);
  EXPECT_EQ(table.check(1064, 0, 1), heap_check::stale);
}

TEST(allocation_table, uses_a_place_again_under_another_tag) {
  allocation_table table(0);
  const allocation_tag first = table.add(0, 10, 64);
  table.remove(first);
  EXPECT_EQ(table.live(), 0U);
  EXPECT_EQ(table.check(0, first, 1), heap_check::stale);
  const allocation_tag second = table.add(0, 10, 64);
  EXPECT_EQ(index_of(second), index_of(first));
  EXPECT_NE(second, first);
  EXPECT_EQ(table.check(0, first, 1), heap_check::stale);
  EXPECT_EQ(table.check(0, second, 1), heap_check::valid);
}

TEST(allocation_table, is_full_when_there_is_no_index_left) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "one thread, which takes long";
#endif
  allocation_table table(0);
  allocation_tag last = 0;
  for (std::uint64_t i = 0; i <= index_of(std::numeric_limits<std::uint64_t>::max()); ++i) {
    table.require_room();
    last = table.add(i, 1, 1);
  }
  EXPECT_THROW(table.require_room(), std::bad_alloc);
  table.remove(last);
  EXPECT_NO_THROW(table.require_room());
}

}  // namespace
}  // namespace ham::base
