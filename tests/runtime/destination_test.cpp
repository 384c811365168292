// Deadlines and numbers of nodes: what no clock or number can tell is said, not wrapped.
#include "ham/offload/destination.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <string>

#include "ham/offload.hpp"

namespace destination_test {

using namespace ham;
using namespace ham::offload;
using namespace std::chrono_literals;

std::int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::int64_t from_nanoseconds(long double time_ns) {
  return ham::offload::detail::nanoseconds_of(std::chrono::duration<long double, std::nano>(time_ns));
}

TEST(destination, times_are_cut_to_nanoseconds_within_their_range) {
  EXPECT_EQ(from_nanoseconds(0), 0);
  EXPECT_EQ(from_nanoseconds(1.9L), 1);
  EXPECT_EQ(from_nanoseconds(-5), 0);
  EXPECT_EQ(from_nanoseconds(9e18L), 9'000'000'000'000'000'000);
  EXPECT_EQ(from_nanoseconds(9.3e18L), INT64_MAX);
  EXPECT_EQ(from_nanoseconds(std::numeric_limits<long double>::infinity()), INT64_MAX);
  EXPECT_EQ(from_nanoseconds(-std::numeric_limits<long double>::infinity()), 0);
}

TEST(destination, durations_of_any_unit_are_converted_without_overflow) {
  using ham::offload::detail::nanoseconds_of;
  EXPECT_EQ(nanoseconds_of(3us), 3000);
  EXPECT_EQ(nanoseconds_of(std::chrono::duration<double>(0.5)), 500'000'000);
  EXPECT_EQ(nanoseconds_of(std::chrono::hours::max()), INT64_MAX);
  EXPECT_EQ(nanoseconds_of(std::chrono::hours::min()), 0);
}

TEST(destination, a_deadline_is_on_the_steady_clock) {
  const std::int64_t before = now_ns();
  const destination where = within(3, 1h);
  const std::int64_t after = now_ns();
  EXPECT_EQ(where.node, 3);
  EXPECT_EQ(where.context, 0U);
  constexpr std::int64_t hour = 3'600'000'000'000;
  EXPECT_GE(where.deadline_ns, before + hour);
  EXPECT_LE(where.deadline_ns, after + hour);
}

TEST(destination, a_time_that_has_passed_is_a_deadline_and_not_none) {
  for (const auto time : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
    const destination where = within(1, time);
    EXPECT_GT(where.deadline_ns, 0) << "0 means that there is no deadline";
    EXPECT_LE(where.deadline_ns, now_ns());
  }
}

TEST(destination, a_time_that_the_clock_cannot_tell_is_none) {
  EXPECT_EQ(within(1, std::chrono::hours::max()).deadline_ns, 0);
  EXPECT_EQ(within(1, std::chrono::nanoseconds::max()).deadline_ns, 0);
  EXPECT_EQ(within(1, std::chrono::duration<double>(1e30)).deadline_ns, 0);
}

TEST(destination, keeps_its_context) {
  const destination where = within(destination(2, 7), 1s);
  EXPECT_EQ(where.node, 2);
  EXPECT_EQ(where.context, 7U);
}

std::string refusal_of(unsigned long long number, bool is_signed) {
  try {
    ham::offload::detail::throw_no_node(number, is_signed);
  } catch (const call_error& problem) {
    return problem.what();
  }
}

TEST(destination, a_number_that_is_cut_is_said_as_it_was) {
  const std::string rest = " does not exist (numbers of nodes have 32 bits) use one below num_nodes()";
  EXPECT_EQ(refusal_of(~0ULL, true), "node -1" + rest);
  EXPECT_EQ(refusal_of(~0ULL, false), "node 18446744073709551615" + rest);
  EXPECT_EQ(refusal_of(1ULL << 32, true), "node 4294967296" + rest);
}

}  // namespace destination_test
