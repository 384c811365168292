#include "core/call_pace.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::detail {
namespace {

constexpr bool guesses = base::own_tick_source != base::tick_source::clock;
const int one_function = 0;
const int other_function = 0;

TEST(call_pace, begins_when_its_caller_was_polled_for_if_that_is_known) {
  call_pace pace;
  const call_pace::begin first = pace.next(&one_function, 17, false);
  EXPECT_EQ(first.ticks, 17U);
  EXPECT_FALSE(first.exact);
}

TEST(call_pace, is_exact_where_that_is_wanted) {
  call_pace pace;
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t before = base::read_ticks();
    const call_pace::begin now = pace.next(&one_function, i == 0 ? 17 : 0, true);
    EXPECT_TRUE(now.exact);
    EXPECT_GE(now.ticks, before);
  }
}

TEST(call_pace, guesses_begins_of_a_function_that_is_called_in_quick_succession) {
  if (!guesses) GTEST_SKIP() << "ticks are those of the clock";
  call_pace pace;
  int guessed = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const call_pace::begin now = pace.next(&one_function, 0, false);
    EXPECT_GT(now.ticks, last) << "in their order";
    last = now.ticks;
    guessed += now.exact ? 0 : 1;
  }
  EXPECT_GT(guessed, 500);
  EXPECT_LT(guessed, 900) << "the clock is read now and then";
}

TEST(call_pace, reads_the_clock_for_another_function) {
  call_pace pace;
  for (int i = 0; i < 1000; ++i) {
    static_cast<void>(pace.next(&one_function, 0, false));
    EXPECT_TRUE(pace.next(&other_function, 0, false).exact);
  }
}

TEST(call_pace, reads_the_clock_behind_a_restart) {
  call_pace pace;
  for (int i = 0; i < 1000; ++i) {
    static_cast<void>(pace.next(&one_function, 0, false));
    pace.restart();
    EXPECT_TRUE(pace.next(&one_function, 0, false).exact);
  }
}

}  // namespace
}  // namespace ham::detail
