#include "trace/thread_slices.hpp"

#include <gtest/gtest.h>

#include "trace/parts_here.hpp"

namespace {

using namespace ham::trace;
using namespace ham::test;
using enum ham::base::trace_kind;

std::vector<slice> slices_in(std::vector<ham::base::trace_event> events) {
  return slices_of(ham::base::trace_part::thread{0, 1, "", std::move(events)},
                   [](std::uint64_t ticks) { return static_cast<std::int64_t>(ticks) - 1'000'000; });
}

TEST(thread_slices, come_in_order_the_outer_first) {
  const auto slices = slices_in(
      {event_of(sent, 20, 30, 1, 0, 1), event_of(waited, 30, 80, 1, 0, 1), event_of(executed, 10, 90, 1, 0, 1)});
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0].begin, 10);
  EXPECT_EQ(slices[1].begin, 20);
  EXPECT_EQ(slices[2].begin, 30);
}

TEST(thread_slices, an_execution_contains_its_reply) {
  const auto slices = slices_in({event_of(executed, 10, 90, 1, 0, 1, 15)});
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[1].what, slice::of::reply);
  EXPECT_EQ(slices[1].begin, 75);
  EXPECT_EQ(slices[1].end, 90);
}

TEST(thread_slices, that_overlap_are_clipped) {
  const auto slices = slices_in({event_of(waited, 50, 120, 1, 0, 1), event_of(executed, 10, 90, 1, 0, 1)});
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[1].end, 90);
}

TEST(thread_slices, one_without_length_at_the_end_of_another_is_in_it) {
  const auto slices = slices_in(
      {event_of(sent_batch, 10, 30, 1, 0, 2), event_of(sent, 30, 30, 1, 0, 1), event_of(waited, 30, 60, 1, 0, 1)});
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[1].end, 30);
  EXPECT_EQ(slices[2].end, 60) << "the batch does not clip what follows";
}

TEST(thread_slices, leave_transfers_and_moments_out) {
  EXPECT_TRUE(slices_in({event_of(put, 1, 2, 1, 0, 0), event_of(got, 1, 2, 1, 0, 0), event_of(settled, 1, 1, 1, 0, 0),
                         event_of(counter, 1, 1, 0, 0, 0)})
                  .empty());
}

}  // namespace
