// A process of the host in place of a Vector Engine: its accesses go to the segment that it has attached.
#include "transport/vedma/attached_access.hpp"

#include <gtest/gtest.h>

#include <array>

#include "ham/error.hpp"
#include "transport/common/one_sided_endpoint.hpp"

namespace ham::inline v1::transport::vedma {
namespace {

TEST(attached_access, reads_and_writes_the_segment_of_another) {
  const segment made = segment::make(4096);
  local_access owner(made.memory());
  attached_access there(made.id(), 4096);
  there.write_word(64, 5);
  EXPECT_EQ(owner.read_word(64), 5U);
  owner.write_word(72, 6);
  EXPECT_EQ(there.read_word(72), 6U);
  const std::array<std::byte, 3> sent{std::byte{1}, std::byte{2}, std::byte{3}};
  there.write_block(100, sent.data(), sent.size());
  std::array<std::byte, 3> found{};
  owner.read_block(100, found.data(), found.size());
  EXPECT_EQ(found, sent);
  found = {};
  there.read_block(100, found.data(), found.size());
  EXPECT_EQ(found, sent);
  EXPECT_FALSE(there.failed());
}

TEST(attached_access, needs_a_segment_as_large_as_the_ring) {
  const segment made = segment::make(4096);
  EXPECT_THROW(attached_access(made.id(), std::size_t{1} << 40), config_error);
}

TEST(attached_access, carries_a_ring) {
  const one_sided_layout layout{4, 8192};
  const segment made = segment::make(layout.bytes());
  local_access words(made.memory());
  initialise(layout, [&](std::uint64_t at, std::uint64_t word) { words.write_word(at, word); });
  one_sided_endpoint<local_access> host(1, one_sided_terms{layout, 9, 0, true}, made.memory());
  one_sided_endpoint<attached_access> target(0, one_sided_terms{layout, 9, 1, true}, made.id(), layout.bytes());
  for (std::uint32_t i = 0; i < 10; ++i) {  // more than there are buffers
    std::byte* const room = host.reserve(1);
    ASSERT_NE(room, nullptr);
    *room = static_cast<std::byte>(i);
    host.commit({i, 2, 3});
    frame got;
    ASSERT_TRUE(target.poll(got));
    EXPECT_EQ(got.head.key, i);
    EXPECT_EQ(got.payload[0], static_cast<std::byte>(i));
    target.release();
  }
}

}  // namespace
}  // namespace ham::transport::vedma
