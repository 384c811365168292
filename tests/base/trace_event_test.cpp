#include "base/trace_event.hpp"

#include <gtest/gtest.h>

namespace {

using namespace ham::base;

TEST(trace_event, has_kind_length_and_numbers) {
  const trace_event one =
      trace_event::make(trace_kind::sent, 1000, 1250, trace_event::pair(7, 48), trace_event::pair(12, 0xffffffff));
  EXPECT_EQ(one.kind(), trace_kind::sent);
  EXPECT_EQ(one.begin, 1000U);
  EXPECT_EQ(one.length(), 250U);
  EXPECT_EQ(one.peer(), 7);
  EXPECT_EQ(one.bytes(), 48U);
  EXPECT_EQ(one.function(), 12U);
  EXPECT_EQ(one.call(), 0xffffffffU);
}

TEST(trace_event, of_zeros_is_none) { EXPECT_EQ(trace_event().kind(), trace_kind::none); }

TEST(trace_event, of_a_kind_that_is_not_known_is_none) {
  trace_event one;
  one.span = std::uint64_t{200} << trace_event::kind_bit;
  EXPECT_EQ(one.kind(), trace_kind::none);
}

TEST(trace_event, never_has_a_negative_length) {
  EXPECT_EQ(trace_event::make(trace_kind::slept, 10, 9, 0, 0).length(), 0U);
}

TEST(trace_event, keeps_its_kind_whatever_its_length) {
  const trace_event one = trace_event::make(trace_kind::name, 0, UINT64_MAX, 0, 0);
  EXPECT_EQ(one.kind(), trace_kind::name);
  EXPECT_EQ(one.length(), trace_event::max_length);
}

TEST(trace_event, holds_the_maximum_where_a_number_does_not_fit) {
  EXPECT_EQ(trace_event::pair(1, std::uint64_t{1} << 40U) >> 32U, 0xffffffffU);
}

TEST(trace_event, is_stored_whole) {
  const trace_event one = trace_event::make(trace_kind::executed, 1, 2, 3, 4);
  trace_event at;
  store_event(at, one);
  EXPECT_EQ(at.kind(), trace_kind::executed);
  EXPECT_EQ(at.begin, 1U);
  EXPECT_EQ(at.whom, 3U);
  EXPECT_EQ(at.what, 4U);
}

}  // namespace
