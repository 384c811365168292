// The clock.
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ham::inline v1::base {
namespace {

TEST(clock, does_not_run_backwards) {
  std::int64_t before = now_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

}  // namespace
}  // namespace ham::base
