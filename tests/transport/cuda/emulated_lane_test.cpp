// What a thread of an emulated device says of itself, and its messages, without the loop.
#include "transport/cuda/emulated_lane.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace ham::inline v1::transport::cuda {
namespace {

namespace wire = device::detail;
using device::scope;

wire::table_row row_of(scope runs_on) { return {nullptr, 0, 0, runs_on, false}; }

TEST(emulated_lane, has_the_rank_that_its_call_gives_it) {
  emulated_device of({.blocks = 3, .warps = 2, .lanes = 4});
  emulated_lane one(of, 2, 5);
  const std::uint64_t stop = 0;
  const auto place = [&](scope runs_on) {
    one.begin(row_of(runs_on), stop, 1);
    return std::pair(one.rank(), one.size());
  };
  EXPECT_EQ(place(scope::thread), std::pair(0U, 1U));
  EXPECT_EQ(place(scope::block), std::pair(5U, 8U));
  EXPECT_EQ(place(scope::grid), std::pair(21U, 24U));
  EXPECT_FALSE(one.in_first_warp());
  EXPECT_FALSE(one.leads_block());
  EXPECT_TRUE(emulated_lane(of, 0, 3).in_first_warp());
}

TEST(emulated_lane, stops_with_its_own_call_only) {
  emulated_device of({.blocks = 1, .warps = 1, .lanes = 1});
  emulated_lane one(of, 0, 0);
  std::uint64_t stop = 4;
  one.begin(row_of(scope::thread), stop, 5);
  EXPECT_FALSE(one.stop_requested());
  stop = 5;
  EXPECT_TRUE(one.stop_requested());
  stop = 6;
  EXPECT_TRUE(one.stop_requested()) << "it stays true";
  one.begin(row_of(scope::thread), stop, 7);
  EXPECT_FALSE(one.stop_requested());
}

TEST(emulated_lane, sends_messages_until_nobody_takes_them) {
  emulated_device of({.blocks = 1, .warps = 1, .lanes = 1});
  emulated_lane one(of, 0, 0);
  std::uint64_t sent = 0;
  const auto send = [&] {
    wire::message_head head{};
    head.function = 3;
    head.size = sizeof sent;
    return one.post(head, reinterpret_cast<const std::byte*>(&sent), false);
  };
  for (; sent < wire::outbox_slots; ++sent) EXPECT_TRUE(send());
  EXPECT_FALSE(send()) << "it is bounded";
  for (std::uint64_t i = 0; i < wire::outbox_slots; ++i) {
    const wire::message_slot* const found = wire::find_message(of.messages(), i, 0);
    ASSERT_NE(found, nullptr);
    std::uint64_t number = 0;
    std::memcpy(&number, found->arguments, sizeof number);
    EXPECT_EQ(number, i);
  }
  EXPECT_EQ(wire::find_message(of.messages(), wire::outbox_slots, 0), nullptr);
  wire::publish_consumed(of.messages(), 1);
  EXPECT_TRUE(send());
  EXPECT_FALSE(send());
}

TEST(emulated_lane, waits_for_answers_in_slots_of_its_own) {
  emulated_device of({.blocks = 1, .warps = 1, .lanes = 1});
  emulated_lane one(of, 0, 0);
  const std::uint32_t first = one.claim_answer();
  const std::uint32_t second = one.claim_answer();
  EXPECT_NE(first, second);
  std::array<std::byte, 4> value{};
  EXPECT_EQ(one.take_answer(first, value.data(), value.size()), wire::answer_status::none);
  const int number = 42;
  wire::fill_answer(of.messages(), first, wire::answer_status::value, reinterpret_cast<const std::byte*>(&number),
                    sizeof number);
  EXPECT_EQ(one.take_answer(second, value.data(), value.size()), wire::answer_status::none);
  EXPECT_EQ(one.take_answer(first, value.data(), value.size()), wire::answer_status::value);
  EXPECT_EQ(std::memcmp(value.data(), &number, sizeof number), 0);
  EXPECT_EQ(one.claim_answer(), first) << "it was given back";
}

TEST(emulated_lane, no_thread_is_one_by_itself) {
  EXPECT_EQ(wire::this_lane(), nullptr);
  EXPECT_EQ(device::rank(), 0U);
  EXPECT_EQ(device::size(), 1U);
  EXPECT_FALSE(device::stop_requested());
  device::sync();
}

}  // namespace
}  // namespace ham::transport::cuda
