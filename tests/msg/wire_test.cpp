// The two cursors of a message: what they write and read, and what they refuse.
#include "ham/msg/wire.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <deque>
#include <limits>
#include <vector>

namespace ham::inline v1::msg {
namespace {

TEST(wire, numbers_are_little_endian_and_come_back) {
  std::array<std::byte, 14> memory{};
  writer out(memory.data(), memory.size());
  out.number(std::uint32_t{0x01020304});
  out.number(std::int16_t{-2});
  out.number(1.5);
  out.expect_full();
  EXPECT_EQ(memory[0], std::byte{4});
  EXPECT_EQ(memory[3], std::byte{1});
  reader in(memory);
  EXPECT_EQ(in.number<std::uint32_t>(), 0x01020304U);
  EXPECT_EQ(in.number<std::int16_t>(), -2);
  EXPECT_EQ(in.number<double>(), 1.5);
  in.expect_end();
}

TEST(wire, a_writer_keeps_to_what_was_announced) {
  std::array<std::byte, 4> memory{};
  writer out(memory.data(), memory.size());
  EXPECT_THROW(out.number(std::uint64_t{1}), call_error);
  out.number(std::uint16_t{1});
  EXPECT_THROW(out.expect_full(), call_error);
  EXPECT_EQ(out.written(), 2U);
  EXPECT_EQ(out.remaining(), 2U);
}

TEST(wire, a_reader_reads_no_further_than_there_are_bytes) {
  const std::array<std::byte, 6> memory{};
  reader in(memory);
  EXPECT_EQ(in.number<std::uint32_t>(), 0U);
  EXPECT_THROW(static_cast<void>(in.number<std::uint32_t>()), protocol_error);
  EXPECT_THROW(static_cast<void>(in.view(3)), protocol_error);
  EXPECT_THROW(static_cast<void>(in.view(std::numeric_limits<std::size_t>::max())), protocol_error);
  EXPECT_EQ(in.remaining(), 2U) << "what was refused is still there";
  EXPECT_THROW(in.expect_end(), protocol_error);
  EXPECT_EQ(in.view(2).size(), 2U);
  in.expect_end();
}

TEST(wire, counts_are_held_against_what_can_be_there) {
  std::array<std::byte, 12> memory{};
  writer(memory.data(), memory.size()).count(4);
  EXPECT_EQ(reader(memory).count(1), 4U);
  EXPECT_THROW(static_cast<void>(reader(memory).count(2)), protocol_error);
  writer(memory.data(), memory.size()).count(std::numeric_limits<std::size_t>::max());
  EXPECT_THROW(static_cast<void>(reader(memory).count(8)), protocol_error);
}

TEST(wire, truth_values_are_two) {
  const std::array bytes{std::byte{0}, std::byte{1}, std::byte{2}};
  reader in(bytes);
  EXPECT_FALSE(in.flag());
  EXPECT_TRUE(in.flag());
  EXPECT_THROW(static_cast<void>(in.flag()), protocol_error);
}

TEST(wire, nesting_has_an_end) {
  reader in(nullptr, 0);
  std::deque<reader::nested> levels;
  for (std::uint32_t level = 0; level < max_nesting; ++level) levels.emplace_back(in);
  EXPECT_THROW(reader::nested one_more(in), protocol_error);
  levels.pop_back();
  EXPECT_NO_THROW(reader::nested instead(in));
  EXPECT_THROW(detail::throw_too_deep(), error);
}

}  // namespace
}  // namespace ham::msg
