// Hints to the processor have no effect but time, whatever they are given.
#include "base/cpu.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <thread>

namespace ham::inline v1::base {
namespace {

TEST(cpu, any_address_may_be_prefetched) {
  constexpr std::size_t page = 1 << 16;  // of any processor
  void* const closed = ::mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(closed, MAP_FAILED);
  const auto at = reinterpret_cast<std::uintptr_t>(closed);
  for (const std::uintptr_t address :
       {std::uintptr_t{0}, std::uintptr_t{1}, ~std::uintptr_t{0}, std::uintptr_t{1} << (sizeof(std::uintptr_t) * 8 - 1),
        at, at + 1, at + page - 1}) {
    prefetch_for_write(address);
  }
  ASSERT_EQ(::munmap(closed, 2 * page), 0);
  prefetch_for_write(at);
}

TEST(cpu, a_prefetch_writes_nothing) {
  alignas(cache_line_bytes) std::array<unsigned char, 4 * cache_line_bytes> memory{};
  memory.fill(7);
  for (const unsigned char& one : memory) prefetch_for_write(reinterpret_cast<std::uintptr_t>(&one));
  for (const unsigned char one : memory) ASSERT_EQ(one, 7);
  static constexpr std::array<int, 16> constants{1, 2, 3};
  prefetch_for_write(reinterpret_cast<std::uintptr_t>(constants.data()));
  EXPECT_EQ(constants[2], 3);
}

TEST(cpu, a_loop_that_relaxes_sees_what_others_write) {
  std::atomic<int> word{0};
  std::thread other([&] {
    while (word.load(std::memory_order_relaxed) == 0) relax();
    word.store(2, std::memory_order_relaxed);
  });
  word.store(1, std::memory_order_relaxed);
  while (word.load(std::memory_order_relaxed) != 2) relax();
  other.join();
}

}  // namespace
}  // namespace ham::base
