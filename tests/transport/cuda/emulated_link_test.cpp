#include "transport/cuda/emulated_link.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(emulated_link, reads_the_second_word_only_behind_the_first) {
  const emulated_link link(0, 0);
  alignas(16) std::uint64_t words[] = {0, 5};
  EXPECT_EQ(link.read_pair(words).second, 0U) << "what is not complete is not looked at";
  words[0] = 7;
  EXPECT_EQ(link.read_pair(words).first, 7U);
  EXPECT_EQ(link.read_pair(words).second, 5U);
}

TEST(emulated_link, takes_its_time) {
  const emulated_link quick(0, 0);
  EXPECT_EQ(quick.arrival_ns(), 0);
  const emulated_link slow(200'000, 1'000'000'000);
  const std::int64_t begin = base::now_ns();
  const std::uint64_t word = 5;
  EXPECT_EQ(slow.read_word(word), 5U);
  EXPECT_GE(base::now_ns() - begin, 200'000);
  EXPECT_GE(slow.arrival_ns() - begin, 1'000'000'000);
}

}  // namespace
}  // namespace ham::transport::cuda
