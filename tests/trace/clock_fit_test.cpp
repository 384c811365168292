#include "trace/clock_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace ham::trace;

/// A round trip that begins at `at` of the process, whose clock is `offset` behind the reference.
offset_limits round_trip(double at, double offset, double there, double back) {
  return {at, offset - there, offset + back};
}

TEST(clock_fit, without_a_round_trip_knows_nothing) {
  EXPECT_LT(fit_clock({}, true, 0, 1e9).bound, 0);
  offset_limits one_sided;
  one_sided.least = 5;
  EXPECT_LT(fit_clock({one_sided}, true, 0, 1e9).bound, 0);
}

TEST(clock_fit, of_one_clock_keeps_within_the_narrowest_limits) {
  const clock_line line = fit_clock({round_trip(10, 500, 100, 300), round_trip(20, 500, 5000, 200)}, true, 0, 100);
  EXPECT_EQ(line.samples, 2U);
  EXPECT_DOUBLE_EQ(line.bound, 150);  // 400 to 700 from all of them
  EXPECT_DOUBLE_EQ(line.to_reference(50), 50 + 550);
  EXPECT_LE(std::abs(line.to_reference(50) - 550), line.bound);
}

TEST(clock_fit, one_sided_limits_narrow_it) {
  offset_limits ping;
  ping.at = 15;
  ping.least = 480;
  const clock_line line = fit_clock({round_trip(10, 500, 100, 100), ping}, true, 0, 100);
  EXPECT_DOUBLE_EQ(line.bound, 60);
  EXPECT_DOUBLE_EQ(line.to_reference(0), 540);
}

TEST(clock_fit, of_one_clock_that_contradicts_itself_says_by_how_much) {
  const clock_line line = fit_clock({{10, 100, 110}, {20, 120, 130}}, true, 0, 100);
  EXPECT_DOUBLE_EQ(line.bound, 5);
  EXPECT_DOUBLE_EQ(line.to_reference(0), 115);
}

TEST(clock_fit, of_two_clocks_follows_their_drift) {
  const double drift = 4e-5;
  const auto truth = [&](double at) { return 1e6 + drift * at; };
  std::vector<offset_limits> samples;
  for (double at = 0; at <= 10e9; at += 1e8) samples.push_back(round_trip(at, truth(at), 2000, 3000));
  const clock_line line = fit_clock(samples, false, 0, 10e9);
  EXPECT_LE(line.bound, 5000);
  for (double at = 0; at <= 10e9; at += 1e9)
    EXPECT_LE(std::abs(line.to_reference(at) - at - truth(at)), line.bound) << at;
}

TEST(clock_fit, of_two_clocks_and_one_moment_allows_for_drift) {
  const clock_line line = fit_clock({round_trip(1e9, 0, 1000, 1000)}, false, 0, 10e9);
  EXPECT_GE(line.bound, 9e9 * 5e-5);
}

}  // namespace
