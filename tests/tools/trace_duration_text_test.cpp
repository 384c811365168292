// Durations as ham-trace prints them.
#include "../../tools/trace/duration_text.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::trace {
namespace {

TEST(trace_duration_text, has_the_unit_of_which_it_is_one_or_more) {
  EXPECT_EQ(duration_text(999'900, 1), "999.9 us");
  EXPECT_EQ(duration_text(1e6, 1), "1.0 ms");
  EXPECT_EQ(duration_text(999'900'000, 1), "999.9 ms");
  EXPECT_EQ(duration_text(1e9, 1), "1.0 s");
  EXPECT_EQ(duration_text(7200e9, 1), "7200.0 s");
  EXPECT_EQ(duration_text(25, 2), "0.03 us") << "none is smaller";
  EXPECT_EQ(duration_text(0, 2), "0.00 us");
}

TEST(trace_duration_text, has_as_many_decimals_as_are_asked_for) {
  EXPECT_EQ(duration_text(1'234'567, 0), "1 ms");
  EXPECT_EQ(duration_text(1'234'567, 2), "1.23 ms");
}

}  // namespace
}  // namespace ham::trace
