#include "trace/call_counters.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <sstream>

#include "trace/parts_here.hpp"
#include "trace/proto_fields.hpp"

namespace {

using namespace ham::trace;
using namespace ham::test;
using enum ham::base::trace_kind;

counter_map counters_in(const job_parts& parts) {
  return call_rates(parts, match_calls(parts, {}, 0), job_clocks(parts));
}

TEST(call_counters, of_calls_that_wait_rise_and_fall) {
  const auto counters = counters_in(
      {part_of(0, {event_of(sent, 0, 10'000, 1, 0, 1), event_of(sent, 10'000, 20'000, 1, 0, 2)}),
       part_of(1, {event_of(executed, 50'000, 60'000, 0, 0, 1), event_of(executed, 90'000, 95'000, 0, 0, 2)})});
  std::vector<double> depths;
  for (const auto& [at, value] : counters.at({1, "calls waiting"}).values) depths.push_back(value);
  EXPECT_EQ(depths, (std::vector<double>{1, 2, 1, 0}));
}

TEST(call_counters, of_bytes_are_rates) {
  const auto counters =
      counters_in({part_of(0, {event_of(sent, 0, 10, 1, 0, 1, 3000), event_of(sent, 0, 20, 1, 0, 2, 1000)})});
  const auto& series = counters.at({0, "bytes sent per second"});
  EXPECT_EQ(series.unit, "B/s");
  ASSERT_EQ(series.values.size(), 2U);
  EXPECT_DOUBLE_EQ(series.values[0].second, 4e6) << "4000 bytes in a millisecond";
  EXPECT_DOUBLE_EQ(series.values[1].second, 0);
}

TEST(call_counters, of_the_program_have_its_names) {
  auto part =
      part_of(0, {ham::base::trace_event::make(counter, 1'000'100, 1'000'100, std::bit_cast<std::uint64_t>(2.5), 9)});
  part.texts[9] = "residual";
  const auto counters = counters_in({part});
  ASSERT_EQ(counters.at({0, "residual"}).values.size(), 1U);
  EXPECT_EQ(counters.at({0, "residual"}).values[0].second, 2.5);
}

TEST(call_counters, are_written_for_nodes_that_have_tracks) {
  std::ostringstream out;
  {
    pftrace_writer to(out);
    counter_map all;
    all[{0, "here"}].values = {{5, 1.0}};
    all[{1, "missing"}].values = {{5, 1.0}};
    write_counters(to, all, [](std::int32_t node) -> pftrace_writer::track { return node == 0 ? 77 : 0; });
  }
  const auto packets = proto_fields(out.str()).messages(1);
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_EQ(packets[0].message(60).text(2), "here");
}

}  // namespace
