// Copies to and from memory of a device that are over when the test says so.
#include "runtime/device_heap.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <future>
#include <numeric>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "bulk.hpp"
#include "ham/error.hpp"
#include "runtime/stepped_memory.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

std::vector<std::byte> counted_bytes(std::size_t n) {
  std::vector<std::byte> result(n);
  std::byte* const at = result.data();
  for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<std::byte>(i * 7 + i / 256);
  return result;
}

/// Notes how an access ended.
class noted_access final : public device_access {
 public:
  struct note {
    std::atomic<int> ended{0};
    std::atomic<int> gone{0};
    std::vector<std::byte> bytes;
    std::string failure;
  };
  explicit noted_access(note& to) : to_(to) {}
  ~noted_access() override { ++to_.gone; }
  void finish(std::span<const std::byte> bytes, const std::string& failure) noexcept override {
    to_.bytes.assign(bytes.begin(), bytes.end());
    to_.failure = failure;
    ++to_.ended;
  }

 private:
  note& to_;
};

template <class Done>
void await_that(Done done) {
  while (!done()) base::sleep_ns(50'000);
}

class device_heap_steps : public testing::Test {
 protected:
  explicit device_heap_steps(std::size_t staging = 2 * piece) {
    auto made = std::make_unique<test::stepped_memory>(staging);
    memory = made.get();
    heap = std::make_unique<device_heap>(std::move(made));
    at = heap->allocations().allocate(4 * piece).address;
  }
  test::stepped_memory* memory;
  std::unique_ptr<device_heap> heap;
  std::uint64_t at;
};

TEST_F(device_heap_steps, goes_on_while_the_device_copies) {
  noted_access::note stored;
  noted_access::note loaded;
  auto sent = counted_bytes(1000);
  heap->store({at}, sent, std::make_unique<noted_access>(stored));
  std::fill(sent.begin(), sent.end(), std::byte{0});  // they have been copied
  heap->load({at}, 1000, std::make_unique<noted_access>(loaded));
  EXPECT_EQ(memory->started(), 2U);
  EXPECT_EQ(stored.ended, 0);
  memory->allow(1);
  await_that([&] { return stored.gone == 1; });
  EXPECT_EQ(loaded.ended, 0);
  memory->allow(1);
  await_that([&] { return loaded.gone == 1; });
  EXPECT_EQ(loaded.bytes, counted_bytes(1000));
  EXPECT_EQ(stored.failure + loaded.failure, "");
}

TEST_F(device_heap_steps, waits_when_all_staging_memory_is_in_use) {
  noted_access::note notes[3];
  const auto sent = counted_bytes(10);
  heap->store({at}, sent, std::make_unique<noted_access>(notes[0]));
  heap->store({at}, sent, std::make_unique<noted_access>(notes[1]));
  auto third =
      std::async(std::launch::async, [&] { heap->store({at}, sent, std::make_unique<noted_access>(notes[2])); });
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_EQ(memory->started(), 2U);
  memory->allow(1);
  third.get();
  memory->allow_all();
  await_that([&] { return notes[2].gone == 1; });
}

TEST_F(device_heap_steps, moves_more_than_a_piece) {
  memory->allow_all();
  const auto sent = counted_bytes(3 * piece + 17);
  std::vector<std::byte> got(sent.size());
  heap->store_now({at}, sent.data(), sent.size());
  heap->load_now({at}, got.data(), got.size());
  EXPECT_EQ(got, sent);
  EXPECT_EQ(memory->started(), 8U);
  heap->store_now({at}, sent.data(), 0);
  EXPECT_EQ(memory->started(), 8U);
}

TEST_F(device_heap_steps, copies_memory_of_the_process_without_staging_memory) {
  noted_access::note notes[2];
  auto host = counted_bytes(3 * piece);
  heap->copy({at}, transport::device_copy::direction::to_device, host.data(), host.size(),
             std::make_unique<noted_access>(notes[0]));
  EXPECT_EQ(memory->started(), 1U);
  EXPECT_EQ(notes[0].ended, 0);
  memory->allow_all();
  await_that([&] { return notes[0].gone == 1; });
  EXPECT_TRUE(notes[0].bytes.empty());
  std::vector<std::byte> got(2 * 1000);
  heap->copy({at, 1000, 1500}, transport::device_copy::direction::to_host, got.data(), got.size(),
             std::make_unique<noted_access>(notes[1]));
  await_that([&] { return notes[1].gone == 1; });
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 1000, host.begin()));
  EXPECT_TRUE(std::equal(got.begin() + 1000, got.end(), host.begin() + 1500));
  EXPECT_EQ(memory->started(), 2U);
}

TEST_F(device_heap_steps, moves_rows_in_pieces) {
  memory->allow_all();
  constexpr std::size_t rows = 1000;
  constexpr std::size_t row_bytes = 1500;
  constexpr std::size_t pitch = 2000;
  const auto sent = counted_bytes(rows * row_bytes);
  std::vector<std::byte> got(sent.size());
  heap->store_now({at, row_bytes, pitch}, sent.data(), sent.size());
  heap->load_now({at, row_bytes, pitch}, got.data(), got.size());
  EXPECT_EQ(got, sent);
  std::vector<std::byte> row(row_bytes);
  heap->load_now({at + 777 * pitch}, row.data(), row_bytes);
  EXPECT_TRUE(std::equal(row.begin(), row.end(), sent.begin() + 777 * row_bytes));
}

TEST_F(device_heap_steps, copies_within_the_device_also_what_overlaps) {
  memory->allow_all();
  constexpr std::size_t n = piece + 5000;
  struct places {
    std::size_t from, to;
  };
  for (const auto& [from, to] : {places{0, 2 * piece}, {0, 1}, {1, 0}, {4000, 0}, {0, piece}, {5, 5}}) {
    auto expected = counted_bytes(4 * piece);
    heap->store_now({at}, expected.data(), expected.size());
    heap->copy_now(at + to, at + from, n);
    std::memmove(expected.data() + to, expected.data() + from, n);
    std::vector<std::byte> got(expected.size());
    heap->load_now({at}, got.data(), got.size());
    EXPECT_TRUE(test::same_bytes(got, expected)) << from << " to " << to;
  }
}

TEST_F(device_heap_steps, says_that_the_device_has_failed) {
  noted_access::note stored;
  const auto sent = counted_bytes(10);
  heap->store({at}, sent, std::make_unique<noted_access>(stored));
  memory->fail();
  await_that([&] { return stored.gone == 1; });
  EXPECT_EQ(stored.failure, "an illegal address");
  std::vector<std::byte> got(10);
  try {
    heap->load_now({at}, got.data(), got.size());
    ADD_FAILURE();
  } catch (const call_error& failure) {
    EXPECT_NE(std::string(failure.what()).find("an illegal address"), std::string::npos);
  }
  EXPECT_THROW(heap->store_now({at}, sent.data(), 10), call_error);
  EXPECT_THROW(heap->copy_now(at + 100, at, 10), call_error);
}

TEST_F(device_heap_steps, copies_out_of_the_arena_of_another_device) {
  memory->allow_all();
  test::stepped_memory other(1000);
  const auto sent = counted_bytes(1000);
  std::memcpy(reinterpret_cast<void*>(other.arena().address + 64), sent.data(), sent.size());
  ASSERT_EQ(heap->arenas().ask(5, other.export_arena()), peer_arenas::state::wanted);
  EXPECT_TRUE(heap->wants_absence());
  heap->use_absence();
  EXPECT_FALSE(heap->wants_absence());
  const auto peer = heap->arenas().find(5);
  ASSERT_NE(peer, nullptr);
  heap->copy_from_peer_now({peer->address() + 64, at, 1000});
  std::vector<std::byte> got(1000);
  heap->load_now({at}, got.data(), got.size());
  EXPECT_EQ(got, sent);
  noted_access::note copied;
  heap->copy_from_peer({peer->address() + 64, at + 1000, 10, 10, 100, 20}, std::make_unique<noted_access>(copied));
  await_that([&] { return copied.gone == 1; });
  EXPECT_EQ(copied.failure, "");
  heap->load_now({at + 1000, 10, 20}, got.data(), 100);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(got[i], sent[i / 10 * 100 + i % 10]) << i;
  memory->fail();
  EXPECT_THROW(heap->copy_from_peer_now({peer->address(), at, 10}), call_error);
}

TEST_F(device_heap_steps, wakes_who_waits_for_the_kernel_when_a_node_is_lost) {
  std::atomic<int> woken{0};
  test::stepped_memory other(1000);
  ASSERT_EQ(heap->arenas().ask(5, other.export_arena()), peer_arenas::state::wanted);
  heap->use_absence();
  EXPECT_EQ(memory->open(), 1U);
  heap->on_absence_wanted([&woken] { ++woken; });
  heap->forget_peer(6);
  heap->forget_peer(5);
  await_that([&] { return woken == 1; });
  EXPECT_TRUE(heap->wants_absence());
  heap->use_absence();
  EXPECT_EQ(memory->open(), 0U);
  heap->on_absence_wanted({});
}

TEST_F(device_heap_steps, waits_for_what_has_begun_and_not_for_more) {
  heap->await_started();
  bool shown = false;
  for (int attempt = 0; attempt < 100 && !shown; ++attempt) {
    noted_access::note first;
    noted_access::note second;
    heap->store({at}, counted_bytes(10), std::make_unique<noted_access>(first));
    std::atomic<bool> over{false};
    std::thread waits([&] {
      heap->await_started();
      over = true;
    });
    base::sleep_ns(5'000'000);
    EXPECT_FALSE(over.load());
    heap->store({at}, counted_bytes(10), std::make_unique<noted_access>(second));
    memory->allow(1);
    const std::int64_t until = base::now_ns() + 100'000'000;
    while (!over.load() && base::now_ns() < until) base::sleep_ns(100'000);
    shown = over.load();  // else the thread has begun late, and waits for the second one as well
    EXPECT_TRUE(!shown || second.ended == 0);
    memory->allow(1);
    waits.join();
    await_that([&] { return second.gone == 1; });
  }
  EXPECT_TRUE(shown);
}

TEST_F(device_heap_steps, ends_with_accesses_under_way) {
  noted_access::note stored;
  heap->store({at}, counted_bytes(10), std::make_unique<noted_access>(stored));
  memory->allow_all();
  heap.reset();
  EXPECT_EQ(stored.ended, 1);
  EXPECT_EQ(stored.gone, 1);
}

TEST(device_heap, needs_staging_memory) {
  EXPECT_THROW(device_heap(std::make_unique<test::stepped_memory>(0)), config_error);
  EXPECT_EQ(device_heap(std::make_unique<test::stepped_memory>(1000)).max_access(), 1000U);
}

TEST(device_heap, is_used_by_several_threads) {
  auto made = std::make_unique<test::stepped_memory>(3 * piece);
  made->allow_all();
  device_heap heap(std::move(made));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&heap, i] {
      const auto sent = counted_bytes(1'200'000 + i);
      const auto own = heap.allocations().allocate(sent.size());
      std::vector<std::byte> got(sent.size());
      for (int round = 0; round < 5; ++round) {
        heap.store_now({own.address}, sent.data(), sent.size());
        heap.load_now({own.address}, got.data(), got.size());
        EXPECT_TRUE(got == sent);
      }
    });
  }
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace ham::detail
