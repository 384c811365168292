#include "trace/call_matching.hpp"

#include <gtest/gtest.h>

#include "trace/parts_here.hpp"

namespace {

using namespace ham::trace;
using namespace ham::test;
using enum ham::base::trace_kind;

/// Times of the events that belong to a call, 0: there is none.
std::vector<std::uint64_t> times_of(const job_parts& parts, const traced_call& call) {
  std::vector<std::uint64_t> times;
  for (const event_place& at : {call.sent, call.executed, call.settled})
    times.push_back(at ? event_at(parts, at).begin - 1'000'000 : 0);
  return times;
}

TEST(call_matching, finds_execution_and_answer) {
  call_between calls;
  calls.add(1000, 7);
  const job_parts parts{part_of(0, calls.caller), part_of(1, calls.callee)};
  const auto found = match_calls(parts, {}, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(times_of(parts, found[0]), (std::vector<std::uint64_t>{1000, 1150, 1450}));
}

TEST(call_matching, tells_calls_of_one_number_apart) {
  call_between calls;
  calls.add(1000, 7);
  calls.add(3000, 7);
  calls.add(5000, 8);
  const job_parts parts{part_of(0, calls.caller), part_of(1, calls.callee)};
  const auto found = match_calls(parts, {}, 0);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(times_of(parts, found[0])[1], 1150U);
  EXPECT_EQ(times_of(parts, found[1])[1], 3150U);
  EXPECT_EQ(times_of(parts, found[1])[2], 3450U);
  EXPECT_EQ(times_of(parts, found[2])[1], 5150U);
}

TEST(call_matching, tells_directions_apart) {
  const job_parts parts{part_of(0, {event_of(sent, 10, 20, 1, 0, 7), event_of(executed, 60, 70, 1, 0, 7)}),
                        part_of(1, {event_of(sent, 40, 50, 0, 0, 7), event_of(executed, 30, 35, 0, 0, 7)})};
  const auto found = match_calls(parts, {}, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(times_of(parts, found[0]), (std::vector<std::uint64_t>{10, 30, 0}));
  EXPECT_EQ(times_of(parts, found[1]), (std::vector<std::uint64_t>{40, 60, 0}));
}

TEST(call_matching, pings_are_executed_in_their_order) {
  constexpr std::uint32_t no_number = 0xffffffff;
  const job_parts parts{
      part_of(0, {event_of(pinged, 10, 20, 1, 0, no_number), event_of(pinged, 30, 40, 1, 1, no_number),
                  event_of(pinged, 50, 60, 1, 0, no_number)}),
      part_of(1, {event_of(executed, 100, 110, 0, 0, no_number), event_of(executed, 120, 130, 0, 1, no_number),
                  event_of(executed, 140, 150, 0, 0, no_number)})};
  const auto found = match_calls(parts, {}, 0);
  ASSERT_EQ(found.size(), 3U);
  for (const traced_call& one : found) {
    const auto times = times_of(parts, one);
    EXPECT_EQ(times[1], times[0] == 10 ? 100U : times[0] == 30 ? 120U : 140U);
  }
}

TEST(call_matching, knows_functions_by_their_names) {
  auto other = part_of(1, {event_of(executed, 100, 110, 0, 0, 0xffffffff)});
  other.functions = {"g(int)", "f()"};  // another program's keys
  const job_parts parts{part_of(0, {event_of(pinged, 10, 20, 1, 1, 0xffffffff)}), other};
  const auto found = match_calls(parts, {}, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(times_of(parts, found[0])[1], 100U);
}

TEST(call_matching, needs_clocks_where_events_are_missing) {
  call_between calls;
  calls.add(1000, 7);
  calls.add(3000, 7);
  calls.callee.erase(calls.callee.begin());
  const job_parts parts{part_of(0, calls.caller), part_of(1, calls.callee)};
  for (const traced_call& one : match_calls(parts, {}, 0)) EXPECT_FALSE(one.executed);
  const auto found = match_calls(
      parts, [](std::uint32_t, std::uint64_t ticks) { return static_cast<double>(ticks); }, 10);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found[0].executed);
  EXPECT_EQ(times_of(parts, found[1])[1], 3150U);
}

TEST(call_matching, an_answer_that_did_not_come_is_nobody_s) {
  call_between calls;
  calls.add(1000, 7);
  calls.add(3000, 7);
  std::erase_if(calls.caller, [](const auto& one) { return one.kind() == settled && one.begin == 1'001'450; });
  const job_parts parts{part_of(0, calls.caller), part_of(1, calls.callee)};
  const auto found = match_calls(parts, {}, 0);
  EXPECT_EQ(times_of(parts, found[0])[2], 0U);
  EXPECT_EQ(times_of(parts, found[1])[2], 3450U);
}

}  // namespace
