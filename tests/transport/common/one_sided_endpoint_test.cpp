// The one-sided ring by itself: how many remote accesses a message costs, order, back-pressure, and a peer that lies.
#include "transport/common/one_sided_endpoint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "transport/common/local_access.hpp"

namespace ham::inline v1::transport {
namespace {

struct access_count {
  int words_read = 0, words_written = 0, blocks_read = 0, blocks_written = 0, fences = 0;
};

/// The active side's way, counted.
class counted_access : public ordinary_stages {
 public:
  static constexpr bool in_place = false;
  counted_access(std::byte* memory, access_count& count) : memory_(memory), count_(count) {}
  [[nodiscard]] std::uint64_t read_word(std::uint64_t at) noexcept {
    ++count_.words_read;
    return memory_.read_word(at);
  }
  void write_word(std::uint64_t at, std::uint64_t word) noexcept {
    ++count_.words_written;
    memory_.write_word(at, word);
  }
  void read_block(std::uint64_t at, std::byte* to, std::size_t size) noexcept {
    ++count_.blocks_read;
    memory_.read_block(at, to, size);
  }
  void write_block(std::uint64_t at, const std::byte* from, std::size_t size) noexcept {
    ++count_.blocks_written;
    memory_.write_block(at, from, size);
  }
  void fence() noexcept { ++count_.fences; }
  [[nodiscard]] bool failed() const noexcept { return false; }

 private:
  local_access memory_;
  access_count& count_;
};

constexpr one_sided_layout small{8, 8192};

/// Both ends over one piece of memory, in one thread.
struct ends {
  explicit ends(bool tells_taken = true)
      : active(1, one_sided_terms{small, 77, 0, tells_taken}, memory, count),
        passive(0, one_sided_terms{small, 77, 1, tells_taken}, memory) {}

  struct aligned_memory {
    explicit aligned_memory(std::size_t size) : bytes(new (std::align_val_t{64}) std::byte[size]()) {
      initialise(small, [&](std::uint64_t at, std::uint64_t word) { std::memcpy(bytes + at, &word, sizeof word); });
    }
    ~aligned_memory() { ::operator delete[](bytes, std::align_val_t{64}); }
    aligned_memory(const aligned_memory&) = delete;
    aligned_memory& operator=(const aligned_memory&) = delete;
    std::byte* bytes;
  };
  aligned_memory owned{small.bytes()};
  std::byte* memory = owned.bytes;
  access_count count;
  one_sided_endpoint<counted_access> active;
  one_sided_endpoint<local_access> passive;
};

bool send(endpoint& to, std::uint32_t number, std::size_t size = 20) {
  std::byte* const room = to.reserve(size);
  if (room == nullptr) return false;
  std::memset(room, static_cast<int>(number), size);
  to.commit({number, number + 1, 5});
  return true;
}

void expect(endpoint& at, std::uint32_t number, std::size_t size = 20) {
  frame got;
  ASSERT_TRUE(at.poll(got)) << number;
  EXPECT_EQ(got.head.key, number);
  EXPECT_EQ(got.head.call, number + 1);
  EXPECT_EQ(got.head.kind, 5);
  ASSERT_EQ(got.payload.size(), size);
  for (const std::byte one : got.payload) ASSERT_EQ(one, static_cast<std::byte>(number));
  at.release();
}

TEST(one_sided, a_message_of_the_active_side_costs_two_writes) {
  ends both;
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(send(both.active, i));
    expect(both.passive, i);
  }
  EXPECT_EQ(both.count.blocks_written, 5);
  EXPECT_EQ(both.count.words_written, 5);
  EXPECT_EQ(both.count.words_read + both.count.blocks_read, 0);
  EXPECT_GE(both.count.fences, 5);
}

TEST(one_sided, a_message_to_the_active_side_costs_two_reads) {
  ends both;
  ASSERT_TRUE(send(both.passive, 3));
  expect(both.active, 3);
  EXPECT_EQ(both.count.words_read, 1);
  EXPECT_EQ(both.count.blocks_read, 1);
  EXPECT_EQ(both.count.words_written, 1) << "it says that it has the message";
  EXPECT_EQ(both.passive.consumed(), 1U);
}

TEST(one_sided, an_offload_over_an_expensive_medium_stays_at_four_remote_accesses) {
  ends both(false);
  for (std::uint32_t i = 0; i < 100; ++i) {  // many times around: credit comes with the messages
    ASSERT_TRUE(send(both.active, i));
    expect(both.passive, i);
    ASSERT_TRUE(send(both.passive, i));
    expect(both.active, i);
  }
  EXPECT_EQ(both.count.blocks_written, 100);
  EXPECT_EQ(both.count.words_written, 100);
  EXPECT_EQ(both.count.words_read, 100);
  EXPECT_EQ(both.count.blocks_read, 100);
}

TEST(one_sided, results_alone_are_credited_now_and_then) {
  ends both(false);
  for (std::uint32_t i = 0; i < 80; ++i) {
    ASSERT_TRUE(send(both.passive, i)) << i;
    expect(both.active, i);
  }
  EXPECT_EQ(both.count.words_written, 80 / (8 / 4));
  EXPECT_EQ(both.passive.consumed(), both.passive.sent()) << "unknown means: perhaps taken";
}

TEST(one_sided, credit_that_the_peer_has_not_looked_at_does_not_count) {
  ends both(false);
  for (std::uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(send(both.passive, i));
  EXPECT_FALSE(send(both.passive, 8));
  for (std::uint32_t i = 0; i < 8; ++i) {
    expect(both.active, i);
    ASSERT_TRUE(send(both.active, i));
  }
  ASSERT_TRUE(send(both.passive, 8)) << "it receives nothing before it has room";
}

TEST(one_sided, full_is_full_and_goes_on_both_ways) {
  ends both;
  for (endpoint* from : {static_cast<endpoint*>(&both.active), static_cast<endpoint*>(&both.passive)}) {
    endpoint* const to = from == &both.active ? static_cast<endpoint*>(&both.passive) : &both.active;
    for (std::uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(send(*from, i, i * 1000));
    EXPECT_FALSE(send(*from, 8));
    EXPECT_EQ(from->sent() - from->consumed(), 8U);
    expect(*to, 0, 0);
    ASSERT_TRUE(send(*from, 8));
    for (std::uint32_t i = 1; i < 8; ++i) expect(*to, i, i * 1000);
    expect(*to, 8);
    EXPECT_EQ(from->sent(), from->consumed());
    EXPECT_TRUE(both.active.empty() && both.passive.empty());
  }
}

TEST(one_sided, flags_of_another_connection_or_lap_mean_nothing) {
  ends both;
  local_access memory(both.memory);
  memory.write_word(small.flag(0, 0), one_sided_flag{one_sided_stamp(0, 78), 1, 20}.word());
  EXPECT_TRUE(both.passive.empty());
  for (std::uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(send(both.active, i));
    expect(both.passive, i);
    EXPECT_TRUE(both.passive.empty()) << "what was there a lap ago is still in the flag";
  }
}

/// A message of the peer at position 0, with one thing wrong.
void expect_refused(one_sided_flag flag, one_sided_head head, bool to_active) {
  ends both;
  local_access memory(both.memory);
  const unsigned direction = to_active ? 1 : 0;
  std::memcpy(both.memory + small.buffer(direction, 0), &head, sizeof head);
  memory.write_word(small.flag(direction, 0), flag.word());
  polled_endpoint& at = to_active ? static_cast<polled_endpoint&>(both.active) : both.passive;
  frame got;
  EXPECT_FALSE(at.poll(got));
  EXPECT_TRUE(at.malformed());
}

TEST(one_sided, a_flag_or_message_that_makes_no_sense_is_refused) {
  const std::uint64_t stamp = one_sided_stamp(0, 77);
  const one_sided_head good{1, 2, 5, 0};
  for (const bool to_active : {false, true}) {
    expect_refused({stamp, 1, 8192 - 15}, good, to_active);
    expect_refused({stamp, 1, 0xffffff}, good, to_active);
    expect_refused({stamp, 8, 20}, good, to_active);
    expect_refused({stamp, 0xffff, 20}, good, to_active);
    expect_refused({stamp, 1, 20}, {1, 2, 0, 0}, to_active);
    expect_refused({stamp, 1, 20}, {1, 2, 128, 0}, to_active);
  }
}

TEST(one_sided, credit_that_was_never_due_makes_no_room) {
  ends both;
  local_access memory(both.memory);
  ASSERT_TRUE(send(both.passive, 1));
  one_sided_head lie{1, 2, 5, 1000};
  std::memcpy(both.memory + small.buffer(1, 0), &lie, sizeof lie);
  memory.write_word(small.released(0), counted | 1);
  for (std::uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(send(both.active, i));
  frame got;
  ASSERT_TRUE(both.active.poll(got));
  both.active.release();
  ASSERT_TRUE(send(both.active, 8)) << "one was released, says the counter";
  EXPECT_FALSE(send(both.active, 9));
  memory.write_word(small.released(0), counted | ~std::uint64_t{0});
  memory.write_word(small.consumed(0), counted | ~std::uint64_t{0});
  EXPECT_EQ(both.active.consumed(), both.active.sent());
}

TEST(one_sided, any_words_in_its_memory_break_nothing) {
  std::mt19937_64 random(20190521);
  for (int round = 0; round < 300; ++round) {
    ends both;
    for (std::size_t at = 0; at < small.word_bytes(); at += 8) {
      std::uint64_t word = random();
      if (round % 2 == 0) {  // stamps that are awaited somewhere
        word = one_sided_flag{one_sided_stamp(at / 8 % 8, 77), static_cast<std::uint32_t>(random() % 9),
                              static_cast<std::uint32_t>(random() % 8200)}
                   .word();
      }
      std::memcpy(both.memory + at, &word, sizeof word);
    }
    for (polled_endpoint* at :
         {static_cast<polled_endpoint*>(&both.active), static_cast<polled_endpoint*>(&both.passive)}) {
      frame got;
      for (int i = 0; i < 20 && at->poll(got); ++i) {
        ASSERT_LE(got.payload.size(), small.max_payload());
        at->release();
      }
      for (std::uint32_t i = 0; i < 20 && send(*at, i); ++i) {
      }
      EXPECT_LE(at->consumed(), at->sent());
    }
  }
}

}  // namespace
}  // namespace ham::transport
