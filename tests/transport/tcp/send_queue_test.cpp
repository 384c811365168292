// The send queue against a simple model.
#include "transport/tcp/send_queue.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <vector>

namespace ham::inline v1::transport::tcp {
namespace {

TEST(tcp_send_queue, gives_out_what_was_committed_in_order_whatever_the_sizes) {
  std::mt19937 random(7);
  send_queue queue(5);
  std::vector<std::byte> wire;
  std::deque<std::size_t> expected;
  std::uint32_t number = 0;
  std::uint32_t read = 0;
  std::size_t refused = 0;
  const auto take = [&](std::size_t most) {
    const auto next = queue.next();
    const std::size_t count = std::min(most, next.size());
    wire.insert(wire.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(count));
    queue.sent(count);
  };
  const auto check_wire = [&] {
    std::size_t at = 0;
    wire_head head;
    const char* why = nullptr;
    while (read_frame(std::span(wire).subspan(at), 5, head, why) == head_status::frame) {
      ASSERT_EQ(head.call, read++);
      ASSERT_EQ(head.size, expected.front());
      expected.pop_front();
      const std::vector<std::byte> right(head.size, static_cast<std::byte>(head.call));
      ASSERT_TRUE(head.size == 0 || std::memcmp(wire.data() + at + head_bytes, right.data(), head.size) == 0);
      at += head_bytes + head.size;
    }
    ASSERT_EQ(why, nullptr);
    wire.erase(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(at));
    ASSERT_EQ(queue.between_frames(), wire.empty());
    ASSERT_EQ(queue.handed(), read + (wire.empty() ? 0 : 1));
  };
  for (int round = 0; round < 20'000; ++round) {
    const bool filling = round % 2000 < 1500;
    if (random() % (filling ? 20 : 3) != 0) {
      const std::size_t size = random() % 20 == 0 ? random() % (largest_payload + 1) : random() % 200;
      std::byte* const room = queue.reserve(size);
      if (room == nullptr) {
        ++refused;
      } else {
        // Others send while the payload is written.
        if (random() % 3 == 0) take(random() % 3000);
        std::memset(room, static_cast<int>(number & 0xff), size);
        if (random() % 10 == 0) continue;  // cancelled
        queue.commit({0, 1, 1, 0, number++, 0});
        expected.push_back(size);
      }
    } else {
      take(random() % (random() % 10 == 0 ? 2 * send_queue::capacity : 20'000));
    }
    ASSERT_NO_FATAL_FAILURE(check_wire());
  }
  while (!queue.empty()) take(1000);
  ASSERT_NO_FATAL_FAILURE(check_wire());
  EXPECT_TRUE(expected.empty());
  EXPECT_GT(refused, 0U) << "the queue was never full";
}

TEST(tcp_send_queue, always_takes_the_largest_frame_when_empty) {
  send_queue queue(1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_NE(queue.reserve(largest_payload - static_cast<std::size_t>(i) * 7), nullptr);
    queue.commit({0, 1, 0, 0, 0, 0});
    while (!queue.empty()) queue.sent(queue.next().size());
  }
}

TEST(tcp_send_queue, knows_what_the_peer_was_told) {
  send_queue queue(1);
  EXPECT_EQ(queue.allowed(), first_allowance);
  ASSERT_NE(queue.reserve(0), nullptr);
  queue.commit({0, 1, 4, 0, 0, 10});
  EXPECT_EQ(queue.acknowledged(), 0U) << "not before it has gone";
  queue.sent(1);
  EXPECT_EQ(queue.acknowledged(), 10U);
  EXPECT_EQ(queue.allowed(), 14U);
  queue.told(12, 0);
  EXPECT_EQ(queue.allowed(), 14U) << "what was allowed once stays allowed";
}

}  // namespace
}  // namespace ham::transport::tcp
