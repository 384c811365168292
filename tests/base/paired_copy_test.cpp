#include "base/paired_copy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace ham::inline v1::base {
namespace {

std::vector<std::uint32_t> counted(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 3U);
  return all;
}

bool copies(paired_copy& by, std::size_t bytes) {
  const std::vector<std::uint32_t> from = counted(bytes / 4 + 2);
  std::vector<std::uint32_t> to(from.size(), 0);
  by.copy(reinterpret_cast<std::byte*>(to.data()), reinterpret_cast<const std::byte*>(from.data()), bytes);
  for (std::size_t i = 0; i < bytes / 4; ++i)
    if (to[i] != from[i]) return false;
  return to.back() == 0;
}

TEST(paired_copy, copies_all_bytes_and_no_more) {
  for (const unsigned cores : {1U, 8U}) {
    paired_copy both(cores);
    for (const std::size_t bytes : {0U, 4U, 1000U, 300'000U, 1'000'004U, 4'000'000U}) EXPECT_TRUE(copies(both, bytes));
  }
}

TEST(paired_copy, serves_several_threads) {
  paired_copy both(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&both] {
      for (int round = 0; round < 10; ++round) EXPECT_TRUE(copies(both, 600'000));
    });
  for (std::thread& one : threads) one.join();
}

TEST(paired_copy, ends_without_having_copied) { const paired_copy both(8); }

}  // namespace
}  // namespace ham::base
