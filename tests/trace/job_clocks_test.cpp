#include "trace/job_clocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "trace/parts_here.hpp"

namespace {

using namespace ham::trace;
using namespace ham::test;
using enum ham::base::trace_kind;

/// Events of node 1 on another machine, whose clock is ahead by 7000.
struct two_machines {
  two_machines() {
    call_between calls;
    for (std::uint32_t i = 0; i < 20; ++i) calls.add(1000 + 10'000'000 * i, i, 7000);
    parts = {part_of(0, calls.caller, 1), part_of(1, calls.callee, 2)};
    found = match_calls(parts, {}, 0);
  }
  job_parts parts;
  std::vector<traced_call> found;
};

TEST(job_clocks, of_the_host_are_its_own) {
  const job_parts parts{part_of(1, {}), part_of(0, {})};
  const job_clocks clocks(parts);
  EXPECT_EQ(clocks.reference(), 1U);
  EXPECT_EQ(clocks.bound(1), 0);
  EXPECT_NEAR(clocks.ns(1, 1'000'000), 5'000'000, 1) << "the host's monotonic clock at its start";
}

TEST(job_clocks, take_times_that_somebody_has_made_up) {
  job_parts parts{part_of(0, {}, 1), part_of(1, {}, 2)};
  parts[0].start.ns = INT64_MAX;
  parts[1].start.ns = INT64_MIN;
  const job_clocks clocks(parts);
  EXPECT_GE(clocks.ns(1, 1'000'000), 0);
  EXPECT_LE(clocks.ns(0, 1'000'000), 4e18);
}

TEST(job_clocks, find_how_far_another_machine_is_ahead) {
  const two_machines job;
  job_clocks clocks(job.parts);
  EXPECT_LT(clocks.bound(1), 0) << "not known yet";
  clocks.fit(job.parts, job.found);
  EXPECT_NEAR(clocks.ns(1, 1'007'000) - clocks.ns(0, 1'000'000), 0, clocks.bound(1));
  EXPECT_EQ(clocks.line(1).samples, 20U);
}

TEST(job_clocks, no_arrow_points_backwards_by_more_than_the_bounds) {
  const two_machines job;
  job_clocks clocks(job.parts);
  clocks.fit(job.parts, job.found);
  clocks.widen(job.parts, job.found);
  for (const traced_call& one : job.found) {
    const auto& sent = event_at(job.parts, one.sent);
    const double backwards =
        clocks.ns(0, sent.begin + sent.length()) - clocks.ns(1, event_at(job.parts, one.executed).begin);
    EXPECT_LE(backwards, clocks.bound(0) + clocks.bound(1));
  }
}

TEST(job_clocks, bounds_are_raised_where_arrows_ask_for_it) {
  const job_parts parts{part_of(0, {event_of(sent, 10'000, 10'050, 1, 0, 1)}),
                        part_of(1, {event_of(executed, 50, 60, 0, 0, 1)})};
  const auto found = match_calls(parts, {}, 0);
  job_clocks clocks(parts);
  clocks.fit(parts, found);
  clocks.widen(parts, found);
  EXPECT_NEAR(clocks.bound(1), 10'000, 10);
}

TEST(job_clocks, processes_of_one_machine_share_the_host_s) {
  const job_parts parts{part_of(0, {}), part_of(1, {})};
  const job_clocks clocks(parts);
  EXPECT_EQ(clocks.ns(0, 3'000'000), clocks.ns(1, 3'000'000));
}

}  // namespace
