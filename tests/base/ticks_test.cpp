// The counter that marks are taken from.
#include "base/ticks.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

TEST(ticks, go_on_with_the_clock) {
  EXPECT_NE(own_tick_source, tick_source::none);
  const std::uint64_t before = read_ticks();
  sleep_ns(2'000'000);
  const std::uint64_t after = read_ticks();
  EXPECT_GT(after, before);
  EXPECT_GT(after - before, 2000U) << "no tick is longer than a microsecond";
}

}  // namespace
}  // namespace ham::base
