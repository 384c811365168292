#include "base/backoff.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using ham::base::backoff;
using ham::base::backoff_schedule;

/// What the first rounds of a wait are: one letter each.
template <class Wait>
std::string rounds(Wait& wait, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    const auto next = wait.next();
    all += next == Wait::step::spin ? 's' : next == Wait::step::yield ? 'y' : 'z';
    wait.wait();
  }
  return all;
}

TEST(backoff, spins_then_yields_then_sleeps) {
  backoff<backoff_schedule{.spins = 2, .yields = 3, .sleep_ns = 1}> wait;
  EXPECT_EQ(rounds(wait, 8), "ssyyyzzz");
}

TEST(backoff, without_a_limit_of_yields_it_never_sleeps) {
  backoff<backoff_schedule{.spins = 1}> wait;
  EXPECT_EQ(rounds(wait, 1000), "s" + std::string(999, 'y'));
}

TEST(backoff, begins_anew_after_reset) {
  backoff<backoff_schedule{.spins = 1, .yields = 0, .sleep_ns = 10, .max_sleep_ns = 40}> wait;
  EXPECT_EQ(rounds(wait, 2), "sz");
  EXPECT_EQ(wait.next_sleep_ns(), 20);
  wait.reset();
  EXPECT_EQ(wait.next_sleep_ns(), 10);
  EXPECT_EQ(rounds(wait, 2), "sz");
}

TEST(backoff, sleeps_grow_up_to_their_limit) {
  backoff<backoff_schedule{.spins = 1, .yields = 1, .sleep_ns = 100, .max_sleep_ns = 350}> wait;
  EXPECT_EQ(rounds(wait, 2), "sy");
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 5; ++i) {
    lengths.push_back(wait.next_sleep_ns());
    wait.wait();
  }
  EXPECT_EQ(lengths, (std::vector<std::int64_t>{100, 200, 350, 350, 350}));
}

TEST(backoff, sleeps_are_alike_without_a_maximum) {
  backoff<backoff_schedule{.spins = 0, .yields = 0, .sleep_ns = 100}> wait;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(wait.next_sleep_ns(), 100);
    wait.wait();
  }
}

TEST(backoff, skips_spins_where_they_would_take_the_core_of_the_other) {
  backoff<backoff_schedule{.spins = 5, .yields = 1, .sleep_ns = 1}> wait;
  EXPECT_EQ(rounds(wait, 1), "s");
  wait.skip_spins();
  EXPECT_EQ(rounds(wait, 2), "yz");
  wait.skip_spins();  // never a step back
  EXPECT_EQ(rounds(wait, 1), "z");
  wait.reset();
  EXPECT_EQ(rounds(wait, 1), "s");
}

TEST(backoff, a_sleep_takes_at_least_its_time) {
  backoff<backoff_schedule{.spins = 0, .yields = 0, .sleep_ns = 2'000'000}> wait;
  const std::int64_t before = ham::base::now_ns();
  wait.wait();
  EXPECT_GE(ham::base::now_ns() - before, 2'000'000);
}

TEST(backoff, a_sleep_takes_no_longer_than_the_caller_allows) {
  backoff<backoff_schedule{.spins = 0, .yields = 0, .sleep_ns = 60'000'000'000}> wait;
  const std::int64_t before = ham::base::now_ns();
  wait.wait(1000);
  wait.wait(0);
  EXPECT_LT(ham::base::now_ns() - before, 30'000'000'000);
}

}  // namespace
