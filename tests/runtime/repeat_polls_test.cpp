// How often a repeat asks for what has arrived.
#include "runtime/repeat_polls.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ham::inline v1::detail {
namespace {

using namespace std::chrono_literals;

TEST(repeat_polls, quick_iterations_ask_now_and_then) {
  repeat_polls polls;
  constexpr int iterations = 100'000;
  const std::int64_t before = base::now_ns();
  std::int64_t asked = 0;
  for (int i = 0; i < iterations; ++i) polls.poll([&] { ++asked; });
  const std::int64_t passed_ns = base::now_ns() - before;
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, passed_ns / 100'000 + 1) << "never sooner than 100 us behind the one before";
}

TEST(repeat_polls, slow_iterations_ask_each_time) {
  repeat_polls polls;
  for (int i = 0; i < 200; ++i) polls.poll([] {});  // quick ones before
  int asked = 0;
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(200us);
    polls.poll([&] { ++asked; });
  }
  EXPECT_GE(asked, 100) << "but for those that still skip the clock, from when they were quick";
}

TEST(repeat_polls, what_takes_long_is_done_less_often) {
  repeat_polls polls;
  const std::int64_t before = base::now_ns();
  int asked = 0;
  while (base::now_ns() - before < 100'000'000) {
    polls.poll([&] {
      ++asked;
      std::this_thread::sleep_for(1ms);
    });
  }
  EXPECT_LE(asked, 11);
}

}  // namespace
}  // namespace ham::detail
