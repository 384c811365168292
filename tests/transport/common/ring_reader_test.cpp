// The receiving end of a line ring: frames of all sizes, and what a hostile sender may write.
#include "transport/common/ring_reader.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "bulk.hpp"
#include "transport/common/line_ring.hpp"

namespace ham::inline v1::transport {
namespace {

TEST_F(line_ring, empty) {
  EXPECT_TRUE(reader.empty());
  EXPECT_EQ(poll(), ring_status::empty);
  reader.release();  // of nothing
  EXPECT_EQ(writer.sent(), 0U);
}

TEST_F(line_ring, all_sizes_through_many_laps) {
  for (int lap = 0; lap < 50; ++lap) {
    for (std::size_t size = 0; size <= writer.max_payload(); size += 1 + size / 7) {
      ASSERT_TRUE(send(size, static_cast<std::byte>(size + 1), static_cast<std::uint32_t>(size)));
      ASSERT_NO_FATAL_FAILURE(expect(size, static_cast<std::byte>(size + 1), static_cast<std::uint32_t>(size)));
      ASSERT_TRUE(reader.empty());
      ASSERT_EQ(poll(), ring_status::empty);
    }
  }
}

TEST_F(line_ring, payload_that_equals_a_stamp) {
  // The first word of each line is what the arrival stamp of a coming lap will be.
  for (std::uint32_t lap = 0; lap < 6; ++lap) {
    for (int i = 0; i < 100; ++i) {
      const std::size_t size = 48 + 64 * 7;
      std::byte* const room = writer.reserve(size);
      ASSERT_NE(room, nullptr);
      const std::uint32_t stamp = stamp_of(writer.sent() + 64 * (i % 3 == 0 ? 0U : 1U) + lap, log2);
      for (std::size_t at = 0; at + 4 <= size; at += 4) std::memcpy(room + at, &stamp, 4);
      writer.commit({7, 0, 3});
      ASSERT_EQ(poll(), ring_status::frame);
      reader.release();
      ASSERT_EQ(poll(), ring_status::empty) << "old payload was taken for a frame";
      ASSERT_TRUE(send(0, std::byte{}));
      ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
      ASSERT_EQ(poll(), ring_status::empty);
    }
  }
}

TEST_F(line_ring, cancelled_payload_that_equals_a_stamp) {
  for (int i = 0; i < 500; ++i) {
    const std::size_t size = writer.max_payload();
    std::byte* const room = writer.reserve(size);
    ASSERT_NE(room, nullptr);
    for (std::size_t at = 0; at + 4 <= size; at += 4) {
      const std::uint32_t stamp = stamp_of(writer.sent() + (i % 2 == 0 ? 0 : 64), log2);
      std::memcpy(room + at, &stamp, 4);
    }
    writer.cancel();
    ASSERT_EQ(poll(), ring_status::empty);
    ASSERT_TRUE(send(0, std::byte{}));
    ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
    ASSERT_EQ(poll(), ring_status::empty) << i;
  }
}

TEST_F(line_ring, lines_of_a_longer_frame_are_given_back_at_the_next_poll_or_when_it_is_told) {
  const std::size_t size = first_line_payload + 100;
  const auto given_back = [&](auto then) {
    const std::uint64_t before = control.released.load();
    EXPECT_TRUE(send(size, std::byte{5}));
    expect(size, std::byte{5});
    EXPECT_EQ(control.released.load(), before) << "it may have to be answered";
    then();
    return control.released.load() - before;
  };
  EXPECT_EQ(given_back([&] { EXPECT_EQ(poll(), ring_status::empty); }), lines_of(size));
  EXPECT_EQ(given_back([&] { reader.give_back(); }), lines_of(size));
  EXPECT_EQ(given_back([&] { reader.arm(true); }), lines_of(size));
  reader.release();
  reader.give_back();
  EXPECT_EQ(control.released.load(), writer.sent()) << "nothing is given back twice";
  ASSERT_TRUE(send(writer.max_payload(), std::byte{5}));
  expect(writer.max_payload(), std::byte{5});
  EXPECT_EQ(control.released.load(), writer.sent()) << "so many lines are given back at once";
}

TEST_F(line_ring, another_connection_s_key_does_not_fit) {
  ASSERT_TRUE(send(0, std::byte{}));
  ring_reader stranger(lines.data(), log2, control, epoch + 1);
  frame got;
  ASSERT_EQ(stranger.poll(got), ring_status::frame);
  EXPECT_NE(got.head.key, 7U);
}

TEST_F(line_ring, hostile_heads) {
  const auto head = [&](std::uint64_t position, std::uint32_t size_and_kind) {
    auto* const at = reinterpret_cast<line_head*>(lines.data() + (position % 64) * line_bytes);
    at->size_and_kind.store(size_and_kind);
    at->stamp.store(stamp_of(position, log2));
  };
  const std::uint32_t call = 1U << 24;
  head(0, call | size_mask);
  EXPECT_EQ(poll(), ring_status::broken) << "longer than the ring";
  head(0, call | static_cast<std::uint32_t>(writer.max_payload() + 1));
  EXPECT_EQ(poll(), ring_status::broken) << "longer than a frame may be";
  head(0, 0);
  EXPECT_EQ(poll(), ring_status::broken) << "a pad of a whole lap";
  head(0, 5);
  EXPECT_EQ(poll(), ring_status::broken) << "a pad with a size";
  for (int i = 0; i < 63; ++i) {
    ASSERT_TRUE(send(0, std::byte{}));
    ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
  }
  head(63, call | 49);
  EXPECT_EQ(poll(), ring_status::broken) << "beyond the end of the ring";
  head(63, 0);
  head(64, 0);
  EXPECT_EQ(poll(), ring_status::broken) << "a pad behind a pad";
}

TEST_F(line_ring, between_two_threads) {
  constexpr std::uint32_t count = test::unless_sanitized(200'000U, 40'000U);
  std::thread sender([&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      while (!send(i % 200, static_cast<std::byte>(i), i)) std::this_thread::yield();
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    frame got;
    while (reader.poll(got) != ring_status::frame) std::this_thread::yield();
    if (got.head.call != i || got.payload.size() != i % 200) ++wrong;
    std::array<std::byte, 200> right{};
    right.fill(static_cast<std::byte>(i));
    if (got.payload.size() > right.size() || std::memcmp(got.payload.data(), right.data(), got.payload.size()) != 0)
      ++wrong;
    reader.release();
  }
  sender.join();
  EXPECT_EQ(wrong, 0U);
}

// A hostile sender may rewrite the header while it is read: what is checked must be what is used, so no word of it is
// an ordinary variable that a compiler may read twice.
static_assert(std::is_same_v<decltype(line_head::stamp), std::atomic<std::uint32_t>>);
static_assert(std::is_same_v<decltype(line_head::key), std::atomic<std::uint32_t>>);
static_assert(std::is_same_v<decltype(line_head::call), std::atomic<std::uint32_t>>);
static_assert(std::is_same_v<decltype(line_head::size_and_kind), std::atomic<std::uint32_t>>);

TEST_F(line_ring, a_header_that_changes_while_it_is_read) {
  std::atomic<bool> stop{false};
  std::thread sender([&] {  // of whom ThreadSanitizer sees every access
    for (std::uint32_t i = 0; !stop; ++i) {
      auto* const at = reinterpret_cast<line_head*>(lines.data() + control.taken.load() % 64 * line_bytes);
      at->size_and_kind.store(1U << 24 | (i % 2 == 0 ? 10 : size_mask), std::memory_order_relaxed);
      at->key.store(i, std::memory_order_relaxed);
      at->call.store(i, std::memory_order_relaxed);
      at->stamp.store(stamp_of(control.taken.load(), log2), std::memory_order_release);
    }
  });
  int frames = 0;
  for (int i = 0; i < 100'000; ++i) {
    frame got;
    if (reader.poll(got) != ring_status::frame) continue;
    ++frames;
    EXPECT_EQ(got.payload.size(), 10U);
    reader.release();
  }
  stop = true;
  sender.join();
  RecordProperty("frames", frames);
}

}  // namespace
}  // namespace ham::transport
