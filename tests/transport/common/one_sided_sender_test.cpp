// The sending side of a one-sided ring: what it writes, in which order, and how many messages it has room for.
#include "transport/common/one_sided_sender.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace ham::inline v1::transport {
namespace {

constexpr one_sided_layout four{4, 8192};

/// The other side's memory, with a note of each access in its order.
class noted_access : public ordinary_stages {
 public:
  static constexpr bool in_place = false;
  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept {
    notes += 'r';
    std::uint64_t word = 0;
    std::memcpy(&word, memory.data() + at, sizeof word);
    return word;
  }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept {
    notes += 'w';
    std::memcpy(memory.data() + at, &word, sizeof word);
  }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept {
    notes += 'R';
    std::memcpy(to, memory.data() + at, size);
  }
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept {
    notes += 'W';
    std::memcpy(memory.data() + at, from, size);
  }
  void fence() noexcept { notes += '|'; }
  [[nodiscard]] bool failed() const noexcept { return false; }

  [[nodiscard]] std::uint64_t word(std::uint64_t at) const {
    std::uint64_t result = 0;
    std::memcpy(&result, memory.data() + at, sizeof result);
    return result;
  }

  std::vector<std::byte> memory = std::vector<std::byte>(four.bytes());
  std::string notes;
};

class sending_side : public testing::Test {
 protected:
  bool send(std::uint32_t key, std::size_t size = 3) {
    std::byte* const room = sender.reserve(size);
    if (room == nullptr) return false;
    std::memset(room, static_cast<int>(key), size);
    sender.commit({key, key + 1, 5});
    return true;
  }

  noted_access there;
  credit_exchange credits{four.buffers};
  one_sided_sender<noted_access> sender{there, one_sided_terms{four, 77, 0, true}, credits};
};

TEST_F(sending_side, writes_the_message_before_the_flag) {
  ASSERT_TRUE(send(9));
  EXPECT_EQ(there.notes, "W|w");
  const one_sided_flag flag = one_sided_flag::of(there.word(four.flag(0, 0)));
  EXPECT_EQ(flag.stamp, one_sided_stamp(0, 77));
  EXPECT_EQ(flag.next, 1U);
  EXPECT_EQ(flag.size, 3U);
  one_sided_head head{};
  std::memcpy(&head, there.memory.data() + four.buffer(0, 0), sizeof head);
  EXPECT_EQ(head.key, 9U);
  EXPECT_EQ(head.call, 10U);
  EXPECT_EQ(head.kind, 5U);
  EXPECT_EQ(there.memory[four.buffer(0, 0) + sizeof head + 2], std::byte{9});
  EXPECT_EQ(there.memory[four.buffer(0, 0) + sizeof head + 3], std::byte{}) << "not more than the message";
  EXPECT_EQ(sender.sent(), 1U);
}

TEST_F(sending_side, names_the_first_buffer_behind_the_last) {
  for (std::uint32_t i = 0; i < four.buffers; ++i) {
    ASSERT_TRUE(send(i));
    EXPECT_EQ(one_sided_flag::of(there.word(four.flag(0, i))).next, (i + 1) % four.buffers);
  }
  EXPECT_FALSE(send(5)) << "all buffers are full";
}

TEST_F(sending_side, a_reservation_that_is_not_sent_writes_nothing) {
  ASSERT_NE(sender.reserve(100), nullptr);
  ASSERT_NE(sender.reserve(four.max_payload()), nullptr);
  EXPECT_EQ(there.notes, "");
  EXPECT_EQ(sender.sent(), 0U);
}

TEST_F(sending_side, asks_the_counter_only_when_it_is_full) {
  for (std::uint32_t i = 0; i < four.buffers; ++i) ASSERT_TRUE(send(i));
  there.notes.clear();
  there.write_word(four.released(0), counted | 2);
  there.notes.clear();
  ASSERT_TRUE(send(4));
  EXPECT_EQ(there.notes, "rW|w");
  there.notes.clear();
  ASSERT_TRUE(send(5));
  EXPECT_EQ(there.notes, "W|w") << "two had been released";
  EXPECT_FALSE(send(6));
}

TEST_F(sending_side, credit_that_came_with_messages_costs_no_access) {
  for (std::uint32_t i = 0; i < four.buffers; ++i) ASSERT_TRUE(send(i));
  there.notes.clear();
  credits.granted.store(3);
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(send(i));
  EXPECT_EQ(there.notes, "W|wW|wW|w");
}

TEST_F(sending_side, tells_the_peer_how_many_of_its_messages_are_done_with) {
  credits.own.store(41);
  ASSERT_TRUE(send(1));
  one_sided_head head{};
  std::memcpy(&head, there.memory.data() + four.buffer(0, 0), sizeof head);
  EXPECT_EQ(head.credit, 41U);
  EXPECT_EQ(credits.carried[0].load(), 41U);
}

TEST_F(sending_side, a_peer_that_lies_gets_no_more_room_than_there_is) {
  for (std::uint32_t i = 0; i < four.buffers; ++i) ASSERT_TRUE(send(i));
  credits.granted.store(1000);
  EXPECT_FALSE(send(4));
  there.write_word(four.released(0), ~std::uint64_t{0});
  for (std::uint32_t i = 0; i < four.buffers; ++i) EXPECT_TRUE(send(i)) << "that is what it said";
  there.write_word(four.released(0), counted);
  EXPECT_FALSE(send(4)) << "less than before means nothing";
}

TEST_F(sending_side, says_what_was_consumed_as_far_as_that_is_known) {
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(send(i));
  EXPECT_EQ(sender.consumed(3), 3U) << "the word is still under way";
  there.write_word(four.consumed(0), counted | 1);
  EXPECT_EQ(sender.consumed(3), 1U);
  there.write_word(four.consumed(0), counted | 100);
  EXPECT_EQ(sender.consumed(3), 3U);
}

}  // namespace
}  // namespace ham::transport
