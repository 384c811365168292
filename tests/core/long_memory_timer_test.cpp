// Long messages keep their memory for a while.
#include "core/long_memory_timer.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::detail {
namespace {

TEST(long_memory_timer, runs_from_the_last_long_message) {
  long_memory_timer timer;
  EXPECT_EQ(timer.due_ns(), base::never_ns);
  timer.start(5);
  EXPECT_EQ(timer.due_ns(), 5 + long_memory_timer::keep_ns);
  timer.start(7);
  EXPECT_EQ(timer.due_ns(), 7 + long_memory_timer::keep_ns);
  timer.stop();
  EXPECT_EQ(timer.due_ns(), base::never_ns);
}

TEST(long_memory_timer, starts_now) {
  long_memory_timer timer;
  const std::int64_t before = base::now_ns();
  timer.start();
  EXPECT_GE(timer.due_ns(), before + long_memory_timer::keep_ns);
  EXPECT_LE(timer.due_ns(), base::now_ns() + long_memory_timer::keep_ns);
}

}  // namespace
}  // namespace ham::detail
