// Ciphertext on its way: what waits stays in order while room is made, and bursts fill packets.
#include "transport/tcp/tls_carrier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

TEST(tls_carrier, keeps_what_waits_while_it_makes_room) {
  carrier with;
  std::mt19937 random(4);
  std::vector<std::byte> expected;
  unsigned next = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t least = 1 + random() % 500;
    const std::span<std::byte> room = with.room(least);
    ASSERT_GE(room.size(), least);
    const std::size_t arrived = random() % (least + 1);
    for (std::size_t i = 0; i < arrived; ++i) {
      room[i] = static_cast<std::byte>(next++);
      expected.push_back(room[i]);
    }
    with.end += arrived;
    ASSERT_TRUE(std::ranges::equal(with.waiting(), expected));
    const std::size_t taken = random() % (expected.size() + 1);
    with.begin += taken;
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(taken));
  }
}

TEST(tls_carrier, does_not_grow_if_all_was_taken) {
  carrier with;
  for (int round = 0; round < 100; ++round) {
    static_cast<void>(with.room(1000));
    with.end += 1000;
    with.begin += 1000;
  }
  EXPECT_EQ(with.in.size(), 1000U);
}

class tls_streams : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ends_.first && ends_.second);
    make_blocking(ends_.first.get());
    make_blocking(ends_.second.get());
    here_.socket.attach(ends_.first.get());
    there_.socket.attach(ends_.second.get());
  }
  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  std::pair<base::unique_fd, base::unique_fd> ends_ = connected_to(listening_.get());
  stream here_;
  stream there_;
};

TEST_F(tls_streams, fill_a_burst_with_records_of_full_blocks) {
  here_.begin();
  const std::size_t burst = here_.socket.burst();
  ASSERT_EQ(here_.out.size(), burst);
  EXPECT_EQ(here_.max_content % 16, 0U);
  EXPECT_LE(here_.max_content, largest_content);
  EXPECT_GT(here_.max_content, 0U);
  const std::size_t records = burst / (here_.max_content + record_overhead);
  EXPECT_LE(records * (here_.max_content + record_overhead), burst);
  EXPECT_LT(burst - records * (here_.max_content + record_overhead), records * 16 + 16) << "room is left unused";
  here_.out[0] = std::byte{9};
  here_.size = 1;
  here_.begin();
  EXPECT_EQ(here_.out[0], std::byte{9}) << "what waits stays";
}

TEST_F(tls_streams, send_what_waits_when_more_does_not_fit) {
  here_.begin();
  std::fill(here_.out.begin(), here_.out.end(), std::byte{5});
  here_.size = here_.out.size() - 10;
  EXPECT_TRUE(here_.make_room(10));
  EXPECT_EQ(here_.size, here_.out.size() - 10) << "it fits: nothing was sent";
  const std::size_t size = here_.size;
  std::thread sender([&] { EXPECT_TRUE(here_.make_room(11)); });
  carrier into;
  while (into.waiting().size() < size) ASSERT_TRUE(there_.receive(into, patient_socket::waiting::asleep));
  sender.join();
  EXPECT_EQ(here_.size, 0U);
  EXPECT_EQ(into.waiting().size(), size);
  EXPECT_TRUE(std::ranges::all_of(into.waiting(), [](std::byte one) { return one == std::byte{5}; }));
}

TEST_F(tls_streams, end_with_their_connection) {
  ends_.second.reset();
  carrier into;
  EXPECT_FALSE(here_.receive(into, patient_socket::waiting::asleep));
  EXPECT_TRUE(into.waiting().empty());
}

}  // namespace
}  // namespace ham::transport::tcp::test
