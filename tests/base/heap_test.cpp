// The heap of a node, and the view that other processes have of it.
#include "base/heap.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "bulk.hpp"

namespace ham::inline v1::base {
namespace {

std::uint64_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
unique_fd again(int fd) { return unique_fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

TEST(heap, allocations_are_apart_aligned_and_named) {
  heap memory(heap::make_file());
  const auto one = memory.allocate(100);
  const auto two = memory.allocate(100);
  const auto nothing = memory.allocate(0);
  EXPECT_EQ(number(one.address) % 64, 0U);
  EXPECT_NE(one.tag, two.tag);
  EXPECT_NE(one.tag, 0U);
  EXPECT_NE(nothing.address, two.address);
  std::memset(one.address, 1, 100);
  std::memset(two.address, 2, 100);
  EXPECT_EQ(static_cast<char*>(one.address)[99], 1);
  EXPECT_EQ(memory.live(), 3U);
  EXPECT_EQ(memory.tag_of(number(one.address) + 99), one.tag);
  EXPECT_EQ(memory.tag_of(number(one.address) + 100), 0U);
  EXPECT_EQ(memory.tag_of(5), 0U);
  EXPECT_TRUE(memory.free(number(one.address), one.tag));
  EXPECT_FALSE(memory.free(number(one.address), one.tag));
  EXPECT_FALSE(memory.free(number(two.address) + 1, two.tag));
  EXPECT_FALSE(memory.free(number(two.address), 0));
  EXPECT_EQ(memory.tag_of(number(one.address)), 0U);
  EXPECT_EQ(memory.live(), 2U);
}

TEST(heap, large_allocations_begin_at_different_places_of_a_page) {
  constexpr std::uint64_t page = 4096;
  heap memory(heap::make_file());
  std::set<std::uint64_t> places;
  for (int i = 0; i < 16; ++i) places.insert(number(memory.allocate(64 * page).address) % page);
  EXPECT_EQ(places.size(), 16U) << "loops over several arrays are slow where all begin at the same";
  for (const std::uint64_t place : places) EXPECT_EQ(place % 64, 0U);
}

TEST(heap, checks) {
  heap memory(heap::make_file());
  const auto one = memory.allocate(1000);
  const std::uint64_t at = number(one.address);
  EXPECT_EQ(memory.check(at, one.tag, 1000), heap_check::valid);
  EXPECT_EQ(memory.check(at + 1000, one.tag, 0), heap_check::valid);
  EXPECT_EQ(memory.check(at + 1, one.tag, 1000), heap_check::out_of_range);
  EXPECT_EQ(memory.check(at - 1, one.tag, 1), heap_check::out_of_range);
  EXPECT_EQ(memory.check(at, one.tag, std::numeric_limits<std::size_t>::max()), heap_check::out_of_range);
  EXPECT_EQ(memory.check(std::numeric_limits<std::uint64_t>::max(), one.tag, 2), heap_check::out_of_range);
  EXPECT_EQ(memory.check(at, one.tag + 1, 1), heap_check::stale);
  EXPECT_EQ(memory.check(at, std::numeric_limits<std::uint64_t>::max(), 1), heap_check::stale);
  EXPECT_TRUE(memory.free(at, one.tag));
  const auto next = memory.allocate(1000);
  EXPECT_EQ(next.address, one.address);
  EXPECT_EQ(memory.check(at, one.tag, 1), heap_check::stale) << "the same place is another allocation now";
  EXPECT_EQ(memory.check(at, next.tag, 1), heap_check::valid);
}

TEST(heap, too_much_is_refused_and_harmless) {
  heap memory(heap::make_file());
  EXPECT_THROW((void)memory.allocate(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  EXPECT_THROW((void)memory.allocate(std::size_t{1} << 62), std::bad_alloc);
  const auto good = memory.allocate(10);
  EXPECT_TRUE(memory.free(number(good.address), good.tag));
  EXPECT_EQ(memory.live(), 0U);
}

TEST(heap, reuses_what_was_freed) {
  heap memory(heap::make_file());
  for (int i = 0; i < 2000; ++i) {
    const auto big = memory.allocate(40 << 20);
    static_cast<char*>(big.address)[0] = 1;
    ASSERT_TRUE(memory.free(number(big.address), big.tag));
  }
  EXPECT_LT(file_size(memory.fd()), 400ULL << 20);
}

TEST(heap, random_life) {
  heap memory(heap::make_file());
  heap_view view(again(memory.fd()));
  std::mt19937 random(5);
  struct block {
    heap::allocation at;
    std::size_t size;
    char mark;
  };
  std::vector<block> live;
  for (int i = 0; i < 20000; ++i) {
    if (live.empty() || (live.size() < 300 && random() % 2 == 0)) {
      const std::size_t size = random() % (random() % 50 == 0 ? 3'000'000 : 2000);
      live.push_back({memory.allocate(size), size, static_cast<char>(random())});
      std::memset(live.back().at.address, live.back().mark, size);
    } else {
      std::swap(live[random() % live.size()], live.back());
      const block gone = live.back();
      live.pop_back();
      heap_check why{};
      const std::byte* const there = view.translate(number(gone.at.address), gone.at.tag, gone.size, why);
      ASSERT_NE(there, nullptr);
      for (const std::size_t k : {std::size_t{0}, gone.size / 2, gone.size - 1}) {
        ASSERT_TRUE(k >= gone.size || static_cast<char>(there[k]) == gone.mark) << "blocks overlap";
      }
      ASSERT_TRUE(memory.free(number(gone.at.address), gone.at.tag));
      ASSERT_EQ(view.translate(number(gone.at.address), gone.at.tag, 0, why), nullptr);
      ASSERT_EQ(why, heap_check::stale);
    }
  }
  EXPECT_EQ(memory.live(), live.size());
}

TEST(heap, many_threads) {
  heap memory(heap::make_file());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&memory, i] {
      for (int k = 0; k < test::unless_sanitized(2000, 500); ++k) {
        const std::size_t size = static_cast<std::size_t>(1 + k % 500);
        const auto got = memory.allocate(size);
        std::memset(got.address, i, size);
        std::this_thread::yield();
        EXPECT_EQ(static_cast<char*>(got.address)[size - 1], i);
        EXPECT_TRUE(memory.free(number(got.address), got.tag));
      }
    });
  }
  for (auto& one : threads) one.join();
  EXPECT_EQ(memory.live(), 0U);
}

TEST(heap_view, sees_the_owner_s_bytes_and_checks_alike) {
  heap memory(heap::make_file());
  heap_view view(again(memory.fd()));
  const auto one = memory.allocate(1000);
  std::strcpy(static_cast<char*>(one.address), "seen by both");
  const std::uint64_t at = number(one.address);
  heap_check why{};
  std::byte* const there = view.translate(at, one.tag, 1000, why);
  ASSERT_NE(there, nullptr);
  EXPECT_EQ(why, heap_check::valid);
  EXPECT_NE(static_cast<void*>(there), one.address) << "a mapping of its own";
  EXPECT_STREQ(reinterpret_cast<const char*>(there), "seen by both");
  EXPECT_EQ(view.translate(at + 10, one.tag, 990, why), there + 10);
  const auto refused = [&](std::uint64_t address, allocation_tag tag, std::size_t size) {
    EXPECT_EQ(view.translate(address, tag, size, why), nullptr);
    return why;
  };
  EXPECT_EQ(refused(at + 1, one.tag, 1000), heap_check::out_of_range);
  EXPECT_EQ(refused(at - 1, one.tag, 1), heap_check::out_of_range);
  EXPECT_EQ(refused(at, one.tag, std::numeric_limits<std::size_t>::max()), heap_check::out_of_range);
  EXPECT_EQ(refused(at, 0, 1), heap_check::stale);
  EXPECT_EQ(refused(at, ~std::uint64_t{0}, 1), heap_check::stale);
  EXPECT_EQ(refused(at, one.tag + (std::uint64_t{1} << heap_index_bits), 1), heap_check::stale);
  const auto later = memory.allocate(200 << 20);  // the file grew since the view was mapped
  ASSERT_NE(view.translate(number(later.address) + (200 << 20) - 1, later.tag, 1, why), nullptr);
}

TEST(heap_view, believes_no_table_beyond_the_file) {
  heap memory(heap::make_file());
  heap_view view(again(memory.fd()));
  const auto one = memory.allocate(1000);
  const mapping raw(memory.fd(), heap_data_offset);
  auto& entry = reinterpret_cast<heap_entry*>(raw.data() + heap_table_offset)[one.tag & ((1U << heap_index_bits) - 1)];
  heap_check why{};
  const std::uint64_t base = number(one.address) - entry.offset.load();
  for (const std::uint64_t offset :
       {std::uint64_t{0}, heap_table_offset, std::uint64_t{1} << 50, ~std::uint64_t{0} - 100}) {
    for (const std::uint64_t size : {std::uint64_t{1000}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      entry.offset.store(offset);
      entry.size.store(size);
      EXPECT_EQ(view.translate(base + offset, one.tag, 500, why), nullptr) << offset << " " << size;
    }
  }
  entry.offset.store(heap_data_offset);
  entry.size.store(std::uint64_t{1} << 40);
  EXPECT_EQ(view.translate(base + heap_data_offset, one.tag, std::size_t{1} << 36, why), nullptr)
      << "the kernel knows the file's size";
}

// ---- others that have the file

TEST(heap, grows_although_others_have_made_its_file_longer) {
  heap memory(heap::make_file());
  ASSERT_TRUE(resize_file(memory.fd(), std::uint64_t{1} << 40));
  for (int i = 0; i < 3; ++i) {
    const auto one = memory.allocate(std::size_t{50} << 20);
    std::memset(one.address, 7, 4096);
    EXPECT_EQ(memory.check(number(one.address), one.tag, std::size_t{50} << 20), heap_check::valid);
  }
}

TEST(heap_view, takes_no_more_addresses_than_a_heap_has) {
  heap memory(heap::make_file());
  const auto one = memory.allocate(4096);
  heap_view view(again(memory.fd()));
  heap_check why{};
  ASSERT_NE(view.translate(number(one.address), one.tag, 4096, why), nullptr);
  constexpr std::uint64_t far = std::uint64_t{1} << 45;
  ASSERT_TRUE(resize_file(memory.fd(), 2 * far));
  // What its peers see of the allocation says that it is very long.
  const mapping table(memory.fd(), heap_data_offset);
  auto& entry = reinterpret_cast<heap_entry*>(table.data() +
                                              heap_table_offset)[one.tag & ((std::uint64_t{1} << heap_index_bits) - 1)];
  entry.size.store(2 * far);
  EXPECT_EQ(view.translate(number(one.address) + far, one.tag, 4096, why), nullptr);
  EXPECT_EQ(why, heap_check::out_of_range);
  EXPECT_NE(view.translate(number(one.address), one.tag, 4096, why), nullptr) << "it is used as before";
}

}  // namespace
}  // namespace ham::base
