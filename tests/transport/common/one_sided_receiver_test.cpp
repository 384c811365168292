// The receiving side of a one-sided ring, in place: which flags it takes for messages, and when a buffer is free again.
#include "transport/common/one_sided_receiver.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>

#include "transport/common/local_access.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr one_sided_layout four_slots{4, 8192};
constexpr std::uint32_t slots_epoch = 77;

class receiving_side : public testing::Test {
 protected:
  receiving_side() {
    initialise(four_slots, [&](std::uint64_t at, std::uint64_t word) { here.write_word(at, word); });
  }
  /// What the peer writes as its message `position`, into this buffer.
  void arrives(std::uint64_t position, std::uint32_t index, std::uint32_t next, one_sided_head head = {1, 2, 5, 0},
               std::uint32_t size = 8) {
    here.write_block(four_slots.buffer(0, index), reinterpret_cast<const std::byte*>(&head), sizeof head);
    here.write_word(four_slots.flag(0, index),
                    one_sided_flag{one_sided_stamp(position, slots_epoch), next, size}.word());
  }
  ring_status poll() { return receiver.poll(got); }
  [[nodiscard]] std::uint64_t consumed() { return here.read_word(four_slots.consumed(0)); }
  [[nodiscard]] std::uint64_t released() { return here.read_word(four_slots.released(0)); }

  struct give_back {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], give_back> memory{new (std::align_val_t{64}) std::byte[four_slots.bytes()]()};
  local_access here{memory.get()};
  credit_exchange credits{four_slots.buffers};
  one_sided_receiver<local_access> receiver{here, one_sided_terms{four_slots, slots_epoch, 1, true}, credits};
  frame got;
};

TEST_F(receiving_side, finds_nothing_in_fresh_memory) {
  EXPECT_TRUE(receiver.empty());
  EXPECT_EQ(poll(), ring_status::empty);
}

TEST_F(receiving_side, takes_a_message_and_says_so_at_once_and_at_its_release) {
  arrives(0, 0, 1, {11, 12, 13, 0}, 20);
  EXPECT_FALSE(receiver.empty());
  ASSERT_EQ(poll(), ring_status::frame);
  EXPECT_EQ(got.head.key, 11U);
  EXPECT_EQ(got.head.call, 12U);
  EXPECT_EQ(got.head.kind, 13);
  EXPECT_EQ(got.payload.size(), 20U);
  EXPECT_EQ(got.payload.data(), memory.get() + four_slots.buffer(0, 0) + sizeof(one_sided_head)) << "in place";
  EXPECT_EQ(consumed(), counted | 1);
  EXPECT_EQ(released(), counted) << "it is being looked at";
  receiver.release();
  EXPECT_EQ(released(), counted | 1);
  EXPECT_EQ(credits.own.load(), 1U);
  EXPECT_TRUE(receiver.empty());
}

TEST_F(receiving_side, goes_on_in_the_buffer_that_the_message_names) {
  arrives(0, 0, 3);
  arrives(1, 3, 2);
  arrives(2, 2, 0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(poll(), ring_status::frame) << i;
    receiver.release();
  }
  EXPECT_EQ(poll(), ring_status::empty) << "what stands in buffer 0 is of the lap before";
  EXPECT_EQ(released(), counted | 3);
}

TEST_F(receiving_side, flags_of_another_connection_are_none) {
  here.write_word(four_slots.flag(0, 0), one_sided_flag{one_sided_stamp(0, slots_epoch + 1), 1, 8}.word());
  EXPECT_TRUE(receiver.empty());
  arrives(1, 0, 1);
  EXPECT_TRUE(receiver.empty()) << "the second message cannot be the first";
  here.write_word(four_slots.flag(0, 0), one_sided_flag{one_sided_stamp(0, slots_epoch), 1, 8}.word() & ~counted);
  EXPECT_TRUE(receiver.empty()) << "a word that is still under way";
}

TEST_F(receiving_side, refuses_what_makes_no_sense_and_takes_nothing_of_it) {
  arrives(0, 0, 1, {1, 2, 5, 0}, static_cast<std::uint32_t>(four_slots.max_payload()) + 1);
  EXPECT_EQ(poll(), ring_status::broken);
  arrives(0, 0, four_slots.buffers);
  EXPECT_EQ(poll(), ring_status::broken);
  for (const std::uint32_t kind : {0U, 0x80U, 0x105U, ~0U}) {
    arrives(0, 0, 1, {1, 2, kind, 0});
    EXPECT_EQ(poll(), ring_status::broken) << kind;
  }
  EXPECT_EQ(consumed(), counted);
  EXPECT_EQ(credits.granted.load(), 0U);
  arrives(0, 0, 1, {1, 2, 5, 9}, static_cast<std::uint32_t>(four_slots.max_payload()));
  EXPECT_EQ(poll(), ring_status::frame) << "the largest one is a good one";
  EXPECT_EQ(credits.granted.load(), 9U) << "what it says of our messages";
}

}  // namespace
}  // namespace ham::transport
