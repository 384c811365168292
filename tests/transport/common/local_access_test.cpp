// The passive side's access: offsets are from the begin of its memory, and words order what was written before them.
#include "transport/common/local_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace ham::inline v1::transport {
namespace {

class local_memory : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t word_in(std::size_t at) const {
    std::uint64_t word = 0;
    std::memcpy(&word, memory.data() + at, sizeof word);
    return word;
  }

  alignas(64) std::array<std::byte, 1024> memory{};
  local_access here{memory.data()};
};

TEST_F(local_memory, words_are_where_their_offset_says_and_nowhere_else) {
  here.write_word(0, 1);
  here.write_word(72, 0x1122334455667788);
  here.write_word(1016, ~std::uint64_t{0});
  EXPECT_EQ(word_in(0), 1U);
  EXPECT_EQ(word_in(72), 0x1122334455667788U);
  EXPECT_EQ(word_in(1016), ~std::uint64_t{0});
  EXPECT_EQ(word_in(64) + word_in(80), 0U);
  EXPECT_EQ(here.read_word(72), 0x1122334455667788U);
  EXPECT_EQ(here.read_word(8), 0U);
}

TEST_F(local_memory, blocks_of_any_size_and_place_leave_what_is_beside_them) {
  const std::array<std::byte, 5> three{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{9}, std::byte{9}};
  here.write_block(101, three.data(), 3);
  EXPECT_EQ(memory[100], std::byte{});
  EXPECT_EQ(memory[101], std::byte{1});
  EXPECT_EQ(memory[103], std::byte{3});
  EXPECT_EQ(memory[104], std::byte{});
  std::array<std::byte, 5> back{};
  back.fill(std::byte{7});
  here.read_block(101, back.data(), 3);
  EXPECT_TRUE(std::equal(three.begin(), three.begin() + 3, back.begin()));
  EXPECT_EQ(back[3], std::byte{7});
  EXPECT_EQ(here.at(101), memory.data() + 101);
  EXPECT_FALSE(here.failed());
}

TEST_F(local_memory, who_sees_a_word_sees_the_block_in_front_of_it) {
  constexpr std::uint64_t rounds = 2000;
  std::thread writer([this] {
    local_access mine(memory.data());
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      while (mine.read_word(512) != i - 1) std::this_thread::yield();  // taken
      std::array<std::byte, 100> block{};
      block.fill(static_cast<std::byte>(i));
      mine.write_block(64, block.data(), block.size());
      mine.fence();
      mine.write_word(0, i);
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    while (here.read_word(0) != i) std::this_thread::yield();
    std::array<std::byte, 100> block{};
    here.read_block(64, block.data(), block.size());
    for (const std::byte one : block) wrong += one != static_cast<std::byte>(i) ? 1 : 0;
    here.write_word(512, i);
  }
  writer.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace ham::transport
