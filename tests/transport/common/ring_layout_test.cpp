// Lines and stamps of a ring: docs/wire-format.md says the same numbers.
#include "transport/common/ring_layout.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace ham::inline v1::transport {
namespace {

constexpr unsigned ring_log2 = 12;

TEST(ring_layout, a_frame_has_as_many_lines_as_its_head_and_payload_fill) {
  EXPECT_EQ(lines_of(0), 1U);
  EXPECT_EQ(lines_of(48), 1U);
  EXPECT_EQ(lines_of(49), 2U);
  EXPECT_EQ(lines_of(48 + 64), 2U);
  EXPECT_EQ(lines_of(48 + 65), 3U);
  for (std::size_t size = 0; size < 5000; ++size) {
    const std::size_t room = lines_of(size) * line_bytes;
    ASSERT_GE(room, head_bytes + size);
    ASSERT_LT(room, head_bytes + size + line_bytes) << "a line too many of " << size;
  }
}

TEST(ring_layout, the_largest_payload_takes_half_of_the_ring) {
  EXPECT_EQ(lines_of(131'056), (std::uint64_t{1} << ring_log2) / 2);
  EXPECT_EQ(lines_of(131'057), (std::uint64_t{1} << ring_log2) / 2 + 1);
}

TEST(ring_layout, the_largest_size_that_a_head_can_tell_does_not_overflow) {
  EXPECT_EQ(lines_of(size_mask), (std::uint64_t{size_mask} + head_bytes + line_bytes - 1) / line_bytes);
}

TEST(ring_layout, a_stamp_names_the_lap) {
  const std::uint64_t lap = std::uint64_t{1} << ring_log2;
  EXPECT_EQ(stamp_of(0, ring_log2), 0x80000000U);
  EXPECT_EQ(stamp_of(lap - 1, ring_log2), 0x80000000U);
  EXPECT_EQ(stamp_of(lap, ring_log2), 0x80000001U);
  EXPECT_EQ(stamp_of(5 * lap + 17, ring_log2), 0x80000005U);
}

TEST(ring_layout, a_stamp_is_never_that_of_empty_memory_nor_of_the_lap_before) {
  const std::uint64_t lap = std::uint64_t{1} << ring_log2;
  // Laps at which one of the stamp's bits, or all of them, change.
  for (unsigned bit = 0; bit < 64 - ring_log2; ++bit) {
    const std::uint64_t at = (std::uint64_t{1} << bit) * lap;
    const std::set<std::uint32_t> stamps{stamp_of(at - lap, ring_log2), stamp_of(at, ring_log2),
                                         stamp_of(at + lap, ring_log2)};
    EXPECT_EQ(stamps.size(), 3U) << "lap 2^" << bit;
    EXPECT_FALSE(stamps.contains(0)) << "lap 2^" << bit;
  }
  EXPECT_NE(stamp_of(std::numeric_limits<std::uint64_t>::max(), ring_log2), 0U);
}

TEST(ring_layout, a_pad_and_the_flag_of_long_messages_are_no_kinds) {
  EXPECT_EQ(pad_kind, 0);
  EXPECT_EQ(long_flag & 0x7f, 0) << "kinds are 1 to 127";
  EXPECT_EQ(size_mask & std::uint32_t{0xff} << 24, 0U) << "size and kind share a word";
}

}  // namespace
}  // namespace ham::transport
