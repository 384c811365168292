// When a node keeps to its core and when it lets go.
#include "base/home_policy.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

constexpr std::int64_t second = 1'000'000'000;

void wake(home_policy& of, int times, std::int64_t delay_ns, std::int64_t now) {
  for (int i = 0; i < times; ++i) of.count_wake(delay_ns, now);
}

TEST(home_policy, keeps_at_first_and_where_nothing_is_known) {
  home_policy policy(2);
  EXPECT_TRUE(policy.keeps(0));
  wake(policy, 100, 50'000'000, 0);  // late, but nobody knows whether there is a better place
  EXPECT_TRUE(policy.keeps(0));
}

TEST(home_policy, keeps_beside_as_many_busy_processes_as_cores) {
  home_policy policy(2);
  for (int i = 0; i < 100; ++i) {
    policy.count_running(4, i);  // two of them, host and target
    wake(policy, 8, 3'000'000, i);
    ASSERT_TRUE(policy.keeps(i));
  }
}

TEST(home_policy, lets_go_of_a_machine_with_several_busy_processes_per_core_until_it_has_calmed_down) {
  home_policy policy(2);
  std::int64_t now = 0;
  for (; now < second / 2; now += second / 100) policy.count_running(10, now);
  EXPECT_FALSE(policy.keeps(now));
  for (; now < 2 * second; now += second / 100) policy.count_running(10, now);
  EXPECT_FALSE(policy.keeps(now)) << "as long as it lasts";
  for (; now < 4 * second; now += second / 100) policy.count_running(2, now);
  EXPECT_TRUE(policy.keeps(now));
}

TEST(home_policy, one_oversubscribed_moment_is_none) {
  home_policy policy(2);
  policy.count_running(2, 0);
  policy.count_running(20, 1);
  EXPECT_TRUE(policy.keeps(1));
}

TEST(home_policy, lets_go_of_a_core_that_others_use_while_there_are_unused_ones) {
  home_policy policy(16);
  policy.count_running(3, 0);
  wake(policy, 7, 2'000'000, 0);
  EXPECT_TRUE(policy.keeps(0));
  wake(policy, 1, 2'000'000, 0);
  EXPECT_FALSE(policy.keeps(second - 1));
  EXPECT_TRUE(policy.keeps(second)) << "then it tries again";
  wake(policy, 8, 2'000'000, second);
  EXPECT_FALSE(policy.keeps(3 * second - 1)) << "for twice as long";
  wake(policy, 8, 10'000, 3 * second);
  wake(policy, 8, 2'000'000, 3 * second);
  EXPECT_TRUE(policy.keeps(4 * second)) << "it was well in between";
}

TEST(home_policy, keeps_where_wake_ups_are_prompt) {
  home_policy policy(16);
  policy.count_running(3, 0);
  wake(policy, 1000, 100'000, 0);
  EXPECT_TRUE(policy.keeps(0));
}

}  // namespace
}  // namespace ham::base
