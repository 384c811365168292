#include "base/burst_clock.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

constexpr bool guesses = own_tick_source != tick_source::clock;
constexpr std::uint64_t first = 1'000'000'000;
constexpr std::uint64_t a_while = quick_ticks;

TEST(burst_clock, is_read_where_nothing_is_known) {
  burst_clock<3> clock;
  EXPECT_EQ(clock.guess(), 0U);
  clock.note(first);
  EXPECT_EQ(clock.guess(), 0U) << "one reading is no succession";
}

TEST(burst_clock, guesses_behind_two_readings_in_quick_succession) {
  if (!guesses) GTEST_SKIP() << "ticks are those of the clock";
  burst_clock<3> clock;
  clock.note(first);
  clock.note(first + a_while - 1);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(clock.guess(), first + a_while - 1 + i);
  EXPECT_EQ(clock.guess(), 0U) << "not for ever";
  clock.note(first + 2 * a_while);
  EXPECT_NE(clock.guess(), 0U);
}

TEST(burst_clock, reads_again_once_something_has_taken_long) {
  burst_clock<3> clock;
  clock.note(first);
  clock.note(first + 10);
  while (clock.guess() != 0) {
  }
  clock.note(first + 20 + a_while);
  EXPECT_EQ(clock.guess(), 0U);
}

TEST(burst_clock, guesses_nothing_from_before_a_restart) {
  burst_clock<3> clock;
  clock.note(first);
  clock.note(first + 10);
  clock.restart();
  EXPECT_EQ(clock.guess(), 0U);
  clock.note(first + 20);
  EXPECT_EQ(clock.guess(), 0U) << "the reading before it does not count";
}

TEST(burst_clock, a_known_time_counts_as_a_reading) {
  if (!guesses) GTEST_SKIP() << "ticks are those of the clock";
  burst_clock<3> clock;
  clock.restart(first);
  EXPECT_EQ(clock.guess(), 0U);
  clock.note(first + 10);
  EXPECT_EQ(clock.guess(), first + 11);
}

TEST(burst_clock, is_always_read_where_ticks_are_those_of_the_clock) {
  if (guesses) GTEST_SKIP() << "they are not";
  burst_clock<3> clock;
  clock.note(first);
  clock.note(first + 1);
  EXPECT_EQ(clock.guess(), 0U);
}

}  // namespace
}  // namespace ham::base
