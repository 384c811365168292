// Allocations in memory that this process does not reach: at an address where nothing is mapped.
#include "base/arena_heap.hpp"

#include <gtest/gtest.h>

#include <new>
#include <thread>
#include <vector>

namespace ham::inline v1::base {
namespace {

constexpr std::uint64_t begin = 0x7f00'0000'0000'0000;
constexpr std::uint64_t bytes = 1 << 20;

TEST(arena_heap, gives_parts_of_the_arena) {
  arena_heap memory(begin, bytes);
  const auto one = memory.allocate(100);
  const auto two = memory.allocate(300);
  EXPECT_EQ(one.address, begin);
  EXPECT_EQ(two.address, begin + arena_heap::alignment);
  EXPECT_EQ(memory.live(), 2U);
  EXPECT_EQ(memory.tag_of(two.address + 299), two.tag);
  EXPECT_EQ(memory.tag_of(two.address + 300), 0U);
  EXPECT_EQ(memory.check(one.address, one.tag, 100), heap_check::valid);
  EXPECT_EQ(memory.check(one.address, one.tag, 101), heap_check::out_of_range);
  EXPECT_EQ(memory.check(one.address, two.tag, 1), heap_check::out_of_range);
  EXPECT_TRUE(memory.contains(begin + bytes - 1));
  EXPECT_FALSE(memory.contains(begin + bytes));
  EXPECT_FALSE(memory.contains(begin - 1));
  EXPECT_FALSE(memory.free(two.address + 1, two.tag));
  EXPECT_TRUE(memory.free(two.address, two.tag));
  EXPECT_FALSE(memory.free(two.address, two.tag));
  EXPECT_EQ(memory.check(two.address, two.tag, 1), heap_check::stale);
}

TEST(arena_heap, ends) {
  arena_heap memory(begin, bytes);
  EXPECT_THROW(static_cast<void>(memory.allocate(bytes + 1)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(memory.allocate(SIZE_MAX)), std::bad_alloc);
  const auto all = memory.allocate(bytes);
  EXPECT_THROW(static_cast<void>(memory.allocate(0)), std::bad_alloc);
  EXPECT_TRUE(memory.free(all.address, all.tag));
  EXPECT_NO_THROW(static_cast<void>(memory.allocate(bytes)));
  arena_heap none(begin, 0);
  EXPECT_THROW(static_cast<void>(none.allocate(0)), std::bad_alloc);
  EXPECT_FALSE(none.contains(begin));
}

TEST(arena_heap, is_used_by_several_threads) {
  arena_heap memory(begin, bytes);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&memory] {
      for (std::size_t k = 0; k < 2000; ++k) {
        const auto got = memory.allocate(1 + k % 700);
        EXPECT_EQ(memory.tag_of(got.address), got.tag);
        EXPECT_TRUE(memory.free(got.address, got.tag));
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(memory.live(), 0U);
  EXPECT_NO_THROW(static_cast<void>(memory.allocate(bytes)));
}

}  // namespace
}  // namespace ham::base
