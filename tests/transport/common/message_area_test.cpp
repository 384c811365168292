// Room for long messages: who gets which, who takes it back, and what a hostile sender may announce.
#include "transport/common/message_area.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/memory_file.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr std::size_t unit = area_layout::page_bytes;
constexpr std::size_t MiB = std::size_t{1} << 20;

class message_area : public testing::Test {
 protected:
  message_area() : file_(base::make_memory_file("area", bytes)), memory_(file_.get(), bytes) {}

  static constexpr std::size_t bytes = 18 * unit;  // 16 and the page of words, and one that cannot be used
  [[nodiscard]] std::span<std::byte> all() const { return {memory_.data(), bytes}; }
  [[nodiscard]] static std::span<const std::byte> as_bytes(const message_place& place) {
    return std::as_bytes(std::span<const message_place, 1>(&place, 1));
  }
  /// Sends a message whose bytes are `fill`.
  message_place send(std::size_t size, int fill) {
    std::byte* const at = writer_.reserve(size);
    if (at == nullptr) return {};
    std::memset(at, fill, size);
    return writer_.send(at);
  }
  void expect(const message_place& place, std::size_t size, int fill) {
    const auto got = reader_.take(as_bytes(place));
    ASSERT_NE(got.data(), nullptr);
    EXPECT_EQ(std::vector<std::byte>(got.begin(), got.end()),
              std::vector<std::byte>(size, static_cast<std::byte>(fill)));
    reader_.release();
  }
  /// Physical memory of the file, in bytes.
  [[nodiscard]] std::size_t resident() const {
    std::vector<unsigned char> pages(bytes / 4096);
    EXPECT_EQ(::mincore(memory_.data(), bytes, pages.data()), 0);
    std::size_t sum = 0;
    for (const unsigned char one : pages) sum += (one & 1U) * 4096U;
    return sum;
  }

  base::unique_fd file_;
  base::mapping memory_;
  message_area_writer writer_{{memory_.data(), bytes}};
  message_area_reader reader_{{memory_.data(), bytes}};
};

TEST_F(message_area, messages_of_all_sizes) {
  for (std::size_t size = 0; size <= writer_.max_size(); size += 1 + size / 3) {
    const message_place place = send(size, static_cast<int>(size % 251));
    ASSERT_NE(place.offset, 0U) << size;
    EXPECT_EQ(place.offset % 64, 0U);
    ASSERT_NO_FATAL_FAILURE(expect(place, size, static_cast<int>(size % 251)));
  }
}

TEST_F(message_area, room_that_was_given_back_serves_again) {
  const std::byte* const first = writer_.reserve(3 * unit);
  writer_.cancel(first);
  const message_place place = send(13 * unit, 1);
  EXPECT_EQ(place.offset, area_layout::first_message + area_layout::lead_bytes) << "behind the first it has no room";
  ASSERT_NO_FATAL_FAILURE(expect(place, 13 * unit, 1));
  EXPECT_NE(writer_.reserve(unit), nullptr);
  EXPECT_NE(writer_.reserve(12 * unit), nullptr);
}

// Writing what the receiver has just read is slow: see message_area.cpp.
TEST_F(message_area, messages_take_turns_in_the_lowest_places) {
  constexpr std::size_t many = 512 * unit;
  const base::unique_fd file = base::make_memory_file("area", many);
  const base::mapping memory(file.get(), many);
  message_area_writer writer({memory.data(), many});
  message_area_reader reader({memory.data(), many});
  const auto places_of = [&](std::size_t size) {
    EXPECT_TRUE(writer.trim());
    std::set<std::uint64_t> places;
    std::uint64_t last = 0;
    for (int i = 0; i < 100; ++i) {
      const message_place place = writer.send(writer.reserve(size));
      EXPECT_TRUE(place.offset != last || size >= 4 * MiB) << size << " bytes, message " << i;
      EXPECT_LT(place.offset + size, std::max(6 * MiB, 2 * size)) << "no more memory than turns need";
      last = place.offset;
      places.insert(place.offset);
      EXPECT_NE(reader.take(as_bytes(place)).data(), nullptr);
      reader.release();
    }
    return places.size();
  };
  EXPECT_EQ(places_of(unit), 16U);  // in two units each, for what lies in front
  EXPECT_EQ(places_of(MiB), 2U);
  EXPECT_EQ(places_of(2 * MiB), 2U);
  EXPECT_EQ(places_of(4 * MiB), 1U);
  EXPECT_EQ(places_of(16 * MiB), 1U);
  EXPECT_EQ(places_of(100), 32U);
}

TEST_F(message_area, room_that_is_under_way_is_nobody_elses) {
  std::vector<message_place> places;
  for (int i = 0; i < 17; ++i) places.push_back(send(unit / 2, i + 1));
  EXPECT_EQ(writer_.reserve(1), nullptr) << "full";
  EXPECT_EQ(writer_.reserve(writer_.max_size() + 1), nullptr);
  // Out of order, as a receiver that keeps one may return them.
  for (const int i : {5, 6, 2}) ASSERT_NO_FATAL_FAILURE(expect(places[static_cast<std::size_t>(i)], unit / 2, i + 1));
  EXPECT_EQ(writer_.reserve(2 * unit), nullptr) << "no gap is so long";
  const message_place two = send(unit + unit / 2, 99);
  EXPECT_EQ(two.offset, places[5].offset);
  const message_place one = send(unit / 2, 98);
  EXPECT_EQ(one.offset, places[2].offset);
  ASSERT_NO_FATAL_FAILURE(expect(places[3], unit / 2, 4));
  ASSERT_NO_FATAL_FAILURE(expect(two, unit + unit / 2, 99));
  ASSERT_NO_FATAL_FAILURE(expect(one, unit / 2, 98));
}

TEST_F(message_area, no_more_messages_than_words) {
  constexpr std::size_t many = (area_layout::blocks + 8) * unit;
  const base::unique_fd file = base::make_memory_file("area", many);
  const base::mapping memory(file.get(), many);
  message_area_writer writer({memory.data(), many});
  std::vector<const std::byte*> rooms;
  for (std::size_t i = 0; i < area_layout::blocks; ++i) {
    rooms.push_back(writer.reserve(1));
    ASSERT_NE(rooms.back(), nullptr);
  }
  EXPECT_EQ(writer.reserve(1), nullptr);
  writer.cancel(rooms[7]);
  EXPECT_EQ(writer.reserve(1), rooms[7]);
}

TEST_F(message_area, is_given_back_when_nothing_is_under_way) {
  EXPECT_TRUE(writer_.trim()) << "nothing was used";
  const message_place place = send(8 * unit, 7);
  EXPECT_FALSE(writer_.trim()) << "the message is not taken";
  EXPECT_GE(resident(), 8 * unit);
  ASSERT_NO_FATAL_FAILURE(expect(place, 8 * unit, 7));
  EXPECT_TRUE(writer_.trim());
  EXPECT_LE(resident(), unit);
  // Words that were used before are used on: what was returned long ago returns nothing now.
  const message_place next = send(8 * unit, 8);
  EXPECT_FALSE(writer_.trim());
  ASSERT_NO_FATAL_FAILURE(expect(next, 8 * unit, 8));
  EXPECT_TRUE(writer_.trim());
}

TEST_F(message_area, a_receiver_that_returns_what_it_has_not_got) {
  auto& words = reinterpret_cast<area_layout*>(memory_.data())->returned;
  for (std::uint32_t guess = 0; guess < 4; ++guess) {
    for (auto& word : words) word.store(guess);
    const message_place one = send(unit, 1);
    const message_place two = send(unit, 2);
    EXPECT_NE(one.offset, two.offset) << "returned before it was sent";
    ASSERT_NO_FATAL_FAILURE(expect(one, unit, 1));
    ASSERT_NO_FATAL_FAILURE(expect(two, unit, 2));
  }
}

TEST_F(message_area, hostile_announcements) {
  const auto refused = [&](const message_place& place) { return reader_.take(as_bytes(place)).data() == nullptr; };
  EXPECT_FALSE(refused({unit, bytes - unit, 0, 1}));
  reader_.release();
  EXPECT_TRUE(refused({unit, bytes - unit + 1, 0, 1})) << "beyond the end";
  EXPECT_TRUE(refused({0, 16, 0, 1})) << "the words";
  EXPECT_TRUE(refused({unit - 1, 16, 0, 1}));
  EXPECT_TRUE(refused({bytes + 1, 0, 0, 1}));
  EXPECT_TRUE(refused({UINT64_MAX, 2, 0, 1}));
  EXPECT_TRUE(refused({unit, UINT64_MAX, 0, 1}));
  EXPECT_TRUE(refused({unit, 16, area_layout::blocks, 1})) << "no such word";
  EXPECT_TRUE(refused({bytes - 4, 4, 0, 1})) << "what is small is copied with more than its bytes";
  EXPECT_FALSE(refused({bytes - readable_payload, 4, 0, 1}));
  reader_.release();
  const message_place good{unit, 16, 0, 1};
  EXPECT_EQ(reader_.take(as_bytes(good).first(23)).data(), nullptr);
  EXPECT_EQ(reader_.take({}).data(), nullptr);
  reader_.release();  // of nothing
}

TEST(message_area_of_nothing, has_no_room) {
  message_area_writer writer({});
  EXPECT_EQ(writer.max_size(), 0U);
  EXPECT_EQ(writer.reserve(0), nullptr);
  EXPECT_TRUE(writer.trim());
  message_area_reader reader({});
  const message_place place{area_layout::first_message, 0, 0, 1};
  EXPECT_EQ(reader.take(std::as_bytes(std::span<const message_place, 1>(&place, 1))).data(), nullptr);
}

TEST_F(message_area, a_receiver_that_returns_ahead_of_time_does_not_keep_the_sender) {
  auto* const words = reinterpret_cast<area_layout*>(memory_.data());
  std::atomic<bool> over{false};
  std::thread hostile([&] {
    // Always one more than stands there: what the next message is to get.
    while (!over.load()) words->returned[0].fetch_add(1);
  });
  for (int i = 0; i < 2000; ++i) {
    std::byte* const at = writer_.reserve(100);
    if (at == nullptr) break;  // what was never returned stays
    static_cast<void>(writer_.send(at));
  }
  over = true;
  hostile.join();
}

TEST_F(message_area, no_generation_is_what_stands_there) {
  auto* const words = reinterpret_cast<area_layout*>(memory_.data());
  for (std::uint32_t i = 0; i < area_layout::blocks; ++i) words->returned[i].store(1);
  const message_place place = send(100, 1);
  EXPECT_NE(place.generation, 1U) << "it would count as returned";
  expect(place, 100, 1);
}

}  // namespace
}  // namespace ham::transport
