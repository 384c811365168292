#include "transport/cuda/emulated_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "base/clock.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

using direction = device_copy::direction;

geometry small(std::int64_t read_ns = 0, std::int64_t write_ns = 0, std::int64_t mb_s = 0) {
  geometry of;
  of.arena_bytes = std::uint64_t{1} << 20;
  of.read_ns = read_ns;
  of.write_ns = write_ns;
  of.bandwidth_mb_s = mb_s;
  return of;
}

std::vector<std::byte> counted(std::size_t n) {
  std::vector<std::byte> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<std::byte>(i);
  return result;
}

void await(emulated_memory& memory, std::uint64_t number) {
  while (memory.finished() < number) base::sleep_ns(10'000);
}

TEST(emulated_memory, has_an_arena_and_staging_memory) {
  emulated_memory memory(small());
  EXPECT_EQ(memory.arena().bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(memory.arena().address % 256, 0U);
  EXPECT_EQ(memory.staging().size(), emulated_memory::staging_bytes);
  EXPECT_EQ(memory.finished(), 0U);
  EXPECT_TRUE(memory.failure().empty());
}

TEST(emulated_memory, copies_in_the_order_of_the_calls) {
  emulated_memory memory(small());
  const std::uint64_t at = memory.arena().address;
  auto sent = counted(1000);
  std::vector<std::byte> got(1000);
  EXPECT_EQ(memory.start({direction::to_device, at, sent.data(), 1000}), 1U);
  EXPECT_EQ(memory.start_within(at + 1000, at, 1000), 2U);
  EXPECT_EQ(memory.start_fill(at, std::byte{9}, 500), 3U);
  EXPECT_EQ(memory.start({direction::to_host, at + 500, got.data(), 1000}), 4U);
  EXPECT_EQ(memory.finished(), 4U);
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_EQ(got[i], sent[500 + i]);
    ASSERT_EQ(got[500 + i], sent[i]);
  }
  std::vector<std::byte> filled(500);
  memory.start({direction::to_host, at, filled.data(), 500});
  EXPECT_EQ(memory.finished(), 5U);
  EXPECT_EQ(filled, std::vector<std::byte>(500, std::byte{9}));
}

TEST(emulated_memory, copies_rows) {
  emulated_memory memory(small());
  const std::uint64_t at = memory.arena().address;
  auto sent = counted(12);
  memory.start_fill(at, std::byte{99}, 40);
  memory.start({direction::to_device, at, sent.data(), 3, 4, 10});
  std::vector<std::byte> all(40);
  memory.start({direction::to_host, at, all.data(), 40});
  std::vector<std::byte> packed(12);
  memory.start({direction::to_host, at, packed.data(), 3, 4, 10});
  EXPECT_EQ(memory.finished(), 4U);
  EXPECT_EQ(packed, sent);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(all[i], i % 10 < 3 ? sent[i / 10 * 3 + i % 10] : std::byte{99}) << i;
}

TEST(emulated_memory, takes_the_time_of_its_link) {
  constexpr std::int64_t read_ns = 2'000'000;
  constexpr std::int64_t write_ns = 1'000'000;
  emulated_memory memory(small(read_ns, write_ns, 100));  // 100 bytes in a microsecond
  const std::uint64_t at = memory.arena().address;
  auto bytes = counted(100'000);
  const std::int64_t begin = base::now_ns();
  const std::uint64_t first = memory.start({direction::to_device, at, bytes.data(), bytes.size()});
  const std::uint64_t second = memory.start({direction::to_host, at, bytes.data(), bytes.size()});
  await(memory, first);
  EXPECT_GE(base::now_ns() - begin, write_ns + 1'000'000);
  await(memory, second);
  EXPECT_GE(base::now_ns() - begin, read_ns + 2'000'000);
}

TEST(emulated_memory, does_not_touch_the_bytes_before_their_time) {
  emulated_memory memory(small(0, 1'000'000'000'000));
  const std::uint64_t at = memory.arena().address;
  auto sent = counted(10);
  memory.start({direction::to_device, at, sent.data(), sent.size()});
  EXPECT_EQ(memory.start_fill(at, std::byte{5}, 10), 2U);
  EXPECT_EQ(memory.finished(), 0U) << "what comes behind it waits, too";
}

TEST(emulated_memory, is_copied_by_another_device_that_has_opened_it) {
  emulated_memory first(small());
  emulated_memory second(small());
  auto sent = counted(1000);
  first.start({direction::to_device, first.arena().address + 100, sent.data(), 1000});
  EXPECT_EQ(first.finished(), 1U);
  const auto peer = second.open_peer(first.export_arena());
  ASSERT_NE(peer, nullptr);
  ASSERT_EQ(peer->bytes(), first.arena().bytes);
  const std::uint64_t to = second.arena().address;
  EXPECT_EQ(second.start_from_peer({peer->address() + 100, to, 1000}), 1U);
  std::vector<std::byte> got(1000);
  second.start({direction::to_host, to, got.data(), 1000});
  EXPECT_EQ(second.finished(), 2U);
  EXPECT_EQ(got, sent);
  second.start_fill(to, std::byte{99}, 40);
  second.start_from_peer({peer->address() + 100, to, 3, 4, 100, 10});
  std::vector<std::byte> rows(40);
  second.start({direction::to_host, to, rows.data(), 40});
  EXPECT_EQ(second.finished(), 5U);
  for (std::size_t i = 0; i < 40; ++i)
    EXPECT_EQ(rows[i], i % 10 < 3 ? sent[i / 10 * 100 + i % 10] : std::byte{99}) << i;
}

TEST(emulated_memory, takes_the_time_of_its_link_once_for_a_copy_of_another_device) {
  constexpr std::int64_t write_ns = 1'000'000;
  emulated_memory first(small());
  emulated_memory second(small(0, write_ns, 100));
  const auto peer = second.open_peer(first.export_arena());
  ASSERT_NE(peer, nullptr);
  const std::int64_t begin = base::now_ns();
  await(second, second.start_from_peer({peer->address(), second.arena().address, 100'000}));
  EXPECT_GE(base::now_ns() - begin, write_ns + 1'000'000);
}

}  // namespace
}  // namespace ham::transport::cuda
