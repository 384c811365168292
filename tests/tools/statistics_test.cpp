// Tests of the robust statistics behind ham-bench.
#include "../../tools/bench/statistics.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace {

using namespace ham::bench;

TEST(statistics, median_of_odd_and_even_counts) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({7}), 7);
}

TEST(statistics, quantiles_interpolate_between_order_statistics) {
  const std::vector<double> values{50, 10, 40, 20, 30};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 46);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 50);
}

TEST(statistics, high_quantiles_of_many_values) {
  std::vector<double> values;
  for (int i = 1000; i >= 0; --i) values.push_back(i);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 500);
  EXPECT_DOUBLE_EQ(quantile(values, 0.99), 990);
  EXPECT_DOUBLE_EQ(quantile(values, 0.999), 999);
}

TEST(statistics, quantile_refuses_what_has_no_answer) {
  EXPECT_THROW((void)median({}), std::invalid_argument);
  EXPECT_THROW((void)quantile({1, 2}, 1.5), std::invalid_argument);
  EXPECT_THROW((void)quantile({1, 2}, -0.1), std::invalid_argument);
}

TEST(statistics, deviation_ignores_one_wild_round) {
  EXPECT_DOUBLE_EQ(median_absolute_deviation({10, 11, 12, 13, 1e9}), 1);
  EXPECT_DOUBLE_EQ(median_absolute_deviation({5, 5, 5}), 0);
}

TEST(statistics, comparison_pairs_rounds) {
  // The machine changes its mode in the middle: the medians of the two columns fall into different modes, the pairs do
  // not.
  const comparison result = compare({330, 330, 550, 550, 551}, {300, 300, 300, 500, 500});
  EXPECT_DOUBLE_EQ(result.measured, 550);
  EXPECT_DOUBLE_EQ(result.floor, 300);
  EXPECT_DOUBLE_EQ(result.ratio_of_medians, 550.0 / 300.0);
  EXPECT_DOUBLE_EQ(result.median_of_ratios, 1.1);
  EXPECT_DOUBLE_EQ(result.median_difference, 50);
  EXPECT_DOUBLE_EQ(result.difference_low, 30);
  EXPECT_DOUBLE_EQ(result.difference_high, 51);
  EXPECT_DOUBLE_EQ(result.floor_low, 300);
  EXPECT_DOUBLE_EQ(result.floor_high, 500);
  EXPECT_LE(result.ratio_low, result.median_of_ratios);
  EXPECT_GE(result.ratio_high, result.median_of_ratios);
}

TEST(statistics, comparison_refuses_rounds_that_do_not_match) {
  EXPECT_THROW((void)compare({1, 2}, {1}), std::invalid_argument);
  EXPECT_THROW((void)compare({}, {}), std::invalid_argument);
  EXPECT_THROW((void)compare({1}, {0}), std::invalid_argument);
}

}  // namespace
