// Arrays in blocks of a heap: where they are found, and when their memory is used again.
#include "runtime/pinned_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace ham::inline v1::detail {
namespace {

class pinned_arrays : public testing::Test {
 protected:
  const std::shared_ptr<base::heap> heap_ = std::make_shared<base::heap>(base::heap::make_file());
  std::shared_ptr<pinned_pool> pool_ = std::make_shared<pinned_pool>(heap_);
};

TEST_F(pinned_arrays, are_found_with_the_pages_that_they_lie_in) {
  const auto small = heap_->allocate(100);  // so that blocks do not begin at a page by chance
  const auto one = pool_->allocate(1000);
  const auto other = pool_->allocate(1000);
  for (const auto& array : {one, other}) {
    const pinned_pool::place found = pool_->find(array.get() + 10, 990);
    ASSERT_EQ(found.array, array);
    EXPECT_EQ(found.block % pinned_pool::page_bytes, 0U);
    EXPECT_EQ(found.block_bytes, pinned_pool::min_block_bytes);
    EXPECT_EQ(found.block + found.offset, reinterpret_cast<std::uintptr_t>(array.get() + 10));
    EXPECT_EQ(heap_->check(found.block, found.tag, found.block_bytes), base::heap_check::valid);
  }
  EXPECT_EQ(pool_->find(one.get(), 1).block, pool_->find(other.get(), 1).block);
  EXPECT_EQ(heap_->live(), 2U);
  EXPECT_TRUE(heap_->free(reinterpret_cast<std::uintptr_t>(small.address), small.tag));
}

TEST_F(pinned_arrays, have_nothing_of_what_lies_beside_them) {
  const auto one = pool_->allocate(1000);
  const auto next = pool_->allocate(1000);
  EXPECT_EQ(pool_->find(one.get(), 1000).array, one);
  EXPECT_EQ(pool_->find(one.get() + 1000, 0).array, one);
  EXPECT_EQ(pool_->find(one.get(), 1001).array, nullptr);
  EXPECT_EQ(pool_->find(one.get() + 1001, 0).array, nullptr);
  EXPECT_EQ(pool_->find(one.get() + 500, SIZE_MAX).array, nullptr);
  EXPECT_EQ(pool_->find(one.get() - 1, 2).array, nullptr);
  EXPECT_EQ(pool_->find(nullptr, 0).array, nullptr);
  const int elsewhere = 0;
  EXPECT_EQ(pool_->find(reinterpret_cast<const std::byte*>(&elsewhere), 1).array, nullptr);
}

TEST_F(pinned_arrays, are_used_again_when_the_last_copy_of_their_pointer_is_gone) {
  auto one = pool_->allocate(1000);
  const std::byte* const where = one.get();
  std::shared_ptr<std::byte> copy = pool_->find(one.get(), 1000).array;
  one.reset();
  EXPECT_NE(pool_->allocate(1000).get(), where) << "its transfer is under way";
  EXPECT_EQ(pool_->find(where, 1000).array, copy);
  copy.reset();
  EXPECT_EQ(pool_->find(where, 1000).array, nullptr);
  EXPECT_EQ(pool_->allocate(1000).get(), where);
}

TEST_F(pinned_arrays, stay_in_their_block_which_stays) {
  constexpr std::size_t large = std::size_t{40} << 20;
  pinned_pool::place before;
  {
    const auto one = pool_->allocate(large);
    std::memset(one.get(), 3, large);
    before = pool_->find(one.get(), large);
    EXPECT_EQ(before.block_bytes, large);
    before.array.reset();
  }
  const auto again = pool_->allocate(large);
  EXPECT_EQ(pool_->find(again.get(), large).tag, before.tag);
  EXPECT_EQ(pool_->find(again.get(), large).block, before.block);
  EXPECT_EQ(again.get()[large - 1], std::byte{3}) << "its pages were not given back";
}

TEST_F(pinned_arrays, outlive_the_pool) {
  const auto one = pool_->allocate(100'000);
  pool_.reset();
  std::memset(one.get(), 1, 100'000);
}

TEST_F(pinned_arrays, that_are_too_large_are_refused) {
  EXPECT_THROW(static_cast<void>(pool_->allocate(SIZE_MAX)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(pool_->allocate(SIZE_MAX / 4)), std::bad_alloc);
  EXPECT_NE(pool_->allocate(0), nullptr);
}

TEST_F(pinned_arrays, are_used_by_several_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (std::size_t round = 1; round < 500; ++round) {
        const std::size_t bytes = 100 * round;
        const auto one = pool_->allocate(bytes);
        std::memset(one.get(), i, bytes);
        EXPECT_EQ(pool_->find(one.get(), bytes).array, one);
        EXPECT_EQ(one.get()[bytes - 1], static_cast<std::byte>(i));
      }
    });
  }
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace ham::detail
