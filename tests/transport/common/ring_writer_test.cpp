// The sending end of a line ring: room, order, and what a hostile receiver may write.
#include "transport/common/ring_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "transport/common/line_ring.hpp"

namespace ham::inline v1::transport {
namespace {

TEST_F(line_ring, largest_frame_fits_at_every_position) {
  for (int position = 0; position < 200; ++position) {
    ASSERT_TRUE(send(writer.max_payload(), std::byte{5})) << position;
    ASSERT_NO_FATAL_FAILURE(expect(writer.max_payload(), std::byte{5}));
    ASSERT_TRUE(send(0, std::byte{}));
    ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
  }
}

TEST_F(line_ring, full_and_in_order) {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::mt19937 random(3);
  std::deque<std::size_t> sizes;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t size = random() % 400;
    if (random() % 2 == 0 && send(size, static_cast<std::byte>(sent), sent)) {
      sizes.push_back(size);
      ++sent;
    } else if (!sizes.empty() && random() % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect(sizes.front(), static_cast<std::byte>(received), received));
      sizes.pop_front();
      ++received;
    }
  }
  EXPECT_GT(received, 1000U);
}

TEST_F(line_ring, refuses_what_has_no_room_and_takes_it_later) {
  int sent = 0;
  while (send(10, std::byte{1})) ++sent;
  EXPECT_EQ(sent, 64);
  EXPECT_FALSE(send(0, std::byte{}));
  EXPECT_EQ(writer.consumed(), 0U);
  expect(10, std::byte{1});
  EXPECT_EQ(writer.consumed(), 1U);
  EXPECT_TRUE(send(0, std::byte{}));
  EXPECT_FALSE(send(0, std::byte{}));
}

TEST_F(line_ring, taken_counts_before_released) {
  ASSERT_TRUE(send(10, std::byte{1}));
  frame got;
  ASSERT_EQ(reader.poll(got), ring_status::frame);
  EXPECT_EQ(writer.consumed(), 1U) << "the frame is being handled";
  EXPECT_EQ(control.released.load(), 0U);
  reader.release();
  EXPECT_EQ(control.released.load(), 1U);
}

TEST_F(line_ring, hostile_counters_gain_nothing) {
  control.released.store(~std::uint64_t{0});
  int sent = 0;
  while (sent < 1000 && send(10, std::byte{1})) {
    ++sent;
    control.released.store(~std::uint64_t{0});  // the receiver says that all is free again: it only hurts itself
  }
  EXPECT_EQ(sent, 1000);
  control.released.store(0);
  EXPECT_FALSE(send(writer.max_payload(), std::byte{1}) && send(writer.max_payload(), std::byte{1}) &&
               send(writer.max_payload(), std::byte{1}));
}

}  // namespace
}  // namespace ham::transport
