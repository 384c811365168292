// The memory of a one-sided ring: nothing overlaps, flags keep what they are given, and senseless sizes are refused.
#include "transport/common/one_sided_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ham::inline v1::transport {
namespace {

void expect_same_flag(const one_sided_flag& flag) {
  const one_sided_flag back = one_sided_flag::of(flag.word());
  EXPECT_EQ(back.stamp, flag.stamp);
  EXPECT_EQ(back.next, flag.next);
  EXPECT_EQ(back.size, flag.size);
}

TEST(one_sided_layout, a_flag_is_what_it_was) {
  expect_same_flag({0, 0, 0});
  expect_same_flag({1, 2, 3});
  expect_same_flag({one_sided_flag::stamp_mask, 0, 0});
  expect_same_flag({0, 0xffff, 0});
  expect_same_flag({0, 0, 0xffffff});
  expect_same_flag({one_sided_flag::stamp_mask, 0xffff, 0xffffff});
}

TEST(one_sided_layout, a_flag_is_never_that_of_an_unused_buffer) { EXPECT_NE(one_sided_flag{}.word(), 0U); }

TEST(one_sided_layout, what_does_not_fit_a_flag_changes_nothing_beside_it) {
  const one_sided_flag back = one_sided_flag::of(one_sided_flag{~std::uint64_t{0}, 0x10000, 0x1000000}.word());
  EXPECT_EQ(back.stamp, one_sided_flag::stamp_mask);
  EXPECT_EQ(back.next, 0U);
  EXPECT_EQ(back.size, 0U);
}

TEST(one_sided_layout, only_sizes_that_make_sense_are_sane) {
  EXPECT_TRUE(one_sided_layout{}.sane());
  EXPECT_TRUE((one_sided_layout{4, 4096 + 64}.sane()));
  EXPECT_TRUE((one_sided_layout{4096, 1U << 23}.sane()));
  const one_sided_layout others[] = {{3, 16384},     {0, 16384},       {4097, 16384},          {~0U, 16384},
                                     {128, 0},       {128, 4096},      {128, 4096 + 16},       {128, 16383},
                                     {128, 16385},   {128, 16384 + 8}, {128, (1U << 23) + 64}, {128, ~0U},
                                     {128, ~0U - 63}};
  for (const one_sided_layout& one : others) EXPECT_FALSE(one.sane()) << one.buffers << " of " << one.buffer_bytes;
}

TEST(one_sided_layout, what_is_sane_can_be_told_in_a_flag) {
  const one_sided_layout largest{4096, 1U << 23};
  expect_same_flag({0, largest.buffers - 1, static_cast<std::uint32_t>(largest.max_payload())});
}

class one_sided_places : public testing::TestWithParam<one_sided_layout> {};
INSTANTIATE_TEST_SUITE_P(, one_sided_places,
                         testing::Values(one_sided_layout{}, one_sided_layout{4, 4160}, one_sided_layout{5, 4160},
                                         one_sided_layout{9, 8192}, one_sided_layout{4096, 4160}),
                         [](const auto& one) { return "of_" + std::to_string(one.param.buffers); });

TEST_P(one_sided_places, do_not_overlap) {
  const one_sided_layout layout = GetParam();
  ASSERT_TRUE(layout.sane());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;  // begin, end
  std::uint64_t words_end = 0;
  for (const unsigned direction : {0U, 1U}) {
    for (std::uint32_t i = 0; i < layout.buffers; ++i) {
      parts.emplace_back(layout.flag(direction, i), layout.flag(direction, i) + 8);
      parts.emplace_back(layout.buffer(direction, i), layout.buffer(direction, i) + layout.buffer_bytes);
      EXPECT_EQ(layout.flag(direction, i) % 8, 0U);
      EXPECT_EQ(layout.buffer(direction, i) % one_sided_layout::line, 0U);
      EXPECT_GE(layout.buffer(direction, i), layout.word_bytes());
      words_end = std::max(words_end, layout.flag(direction, i) + 8);
    }
    // Each counter has a line of its own: they have different writers.
    for (const std::uint64_t at : {layout.consumed(direction), layout.released(direction)}) {
      EXPECT_EQ(at % one_sided_layout::line, 0U);
      parts.emplace_back(at, at + one_sided_layout::line);
      words_end = std::max(words_end, at + 8);
    }
  }
  EXPECT_LE(words_end, layout.word_bytes());
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 1; i < parts.size(); ++i) ASSERT_LE(parts[i - 1].second, parts[i].first);
  EXPECT_EQ(parts.back().second, layout.bytes());
}

TEST_P(one_sided_places, begin_with_counters_of_nothing) {
  const one_sided_layout layout = GetParam();
  std::map<std::uint64_t, std::uint64_t> stored;
  initialise(layout, [&](std::uint64_t at, std::uint64_t word) { EXPECT_TRUE(stored.emplace(at, word).second); });
  const std::map<std::uint64_t, std::uint64_t> expected{{layout.consumed(0), counted},
                                                        {layout.consumed(1), counted},
                                                        {layout.released(0), counted},
                                                        {layout.released(1), counted}};
  EXPECT_EQ(stored, expected);
}

TEST(one_sided_layout, stamps_of_a_buffer_differ_from_lap_to_lap_and_by_connection) {
  for (const std::uint32_t epoch : {0U, 77U, ~0U}) {
    for (std::uint64_t position :
         {std::uint64_t{0}, one_sided_flag::stamp_mask - 4, one_sided_flag::stamp_mask, ~std::uint64_t{0} - 8}) {
      const std::uint64_t stamp = one_sided_stamp(position, epoch);
      EXPECT_LE(stamp, one_sided_flag::stamp_mask);
      for (const std::uint64_t buffers : {4, 128, 4096}) EXPECT_NE(stamp, one_sided_stamp(position + buffers, epoch));
      EXPECT_NE(stamp, one_sided_stamp(position, epoch + 1));
    }
  }
}

}  // namespace
}  // namespace ham::transport
