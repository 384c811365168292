#include "transport/cuda/emulated_link.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ham::inline v1::transport::cuda {
namespace {

struct alignas(64) line {
  std::uint64_t stamp = 7;
  std::array<std::uint64_t, 7> rest{1, 2, 3, 4, 5, 6, 8};
};

TEST(emulated_link, reads_a_line_only_with_its_stamp) {
  const emulated_link link(0, 0);
  const line there;
  line here{};
  here.rest = {};
  EXPECT_FALSE(link.read_line(reinterpret_cast<const std::byte*>(&there), 8, reinterpret_cast<std::byte*>(&here)));
  EXPECT_EQ(here.rest[0], 0U) << "what is not complete is not looked at";
  EXPECT_TRUE(link.read_line(reinterpret_cast<const std::byte*>(&there), 7, reinterpret_cast<std::byte*>(&here)));
  EXPECT_EQ(here.rest, there.rest);
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
