// Robust statistics of the benchmarks: quantiles, and the ratio of a measurement to the floor measured beside it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

/// The q-quantile (0 <= q <= 1) of `values`, interpolated linearly between order statistics; reorders `values`.
/// Throws std::invalid_argument for no values or q out of range.
[[nodiscard]] inline double quantile_in_place(std::vector<double>& values, double q) {
  if (values.empty()) throw std::invalid_argument("quantile of no values");
  if (!(q >= 0.0 && q <= 1.0)) throw std::invalid_argument("quantile outside 0..1");
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), nth, values.end());
  const double lower = *nth;
  const double fraction = position - static_cast<double>(below);
  if (fraction == 0.0) return lower;
  const double upper = *std::min_element(nth + 1, values.end());
  return lower + fraction * (upper - lower);
}

[[nodiscard]] inline double quantile(std::vector<double> values, double q) { return quantile_in_place(values, q); }

[[nodiscard]] inline double median(std::vector<double> values) { return quantile_in_place(values, 0.5); }

/// Median distance from the median: a spread that a few wild rounds do not move.
[[nodiscard]] inline double median_absolute_deviation(std::vector<double> values) {
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return quantile_in_place(values, 0.5);
}

/// A measurement beside its floor, over rounds in which both were taken one right after the other.
struct comparison {
  double measured = 0;          ///< median of the measurement
  double measured_low = 0;      ///< its lower quartile
  double measured_high = 0;     ///< its upper quartile
  double floor = 0;             ///< median of the floor
  double floor_low = 0;         ///< its lower quartile
  double floor_high = 0;        ///< its upper quartile
  double ratio_of_medians = 0;  ///< measured / floor
  double median_of_ratios =
      0;                  ///< median over the rounds of measured_i / floor_i: immune to modes that last several rounds
  double ratio_low = 0;   ///< lower quartile of the rounds' ratios
  double ratio_high = 0;  ///< upper quartile of the rounds' ratios
  double median_difference = 0;  ///< median over the rounds of measured_i - floor_i
  double difference_low = 0;     ///< lower quartile of these differences
  double difference_high = 0;    ///< their upper quartile
};

/// Compares round by round. Throws std::invalid_argument if there are no rounds, the counts differ, or a floor is not
/// positive.
[[nodiscard]] inline comparison compare(const std::vector<double>& measured, const std::vector<double>& floor) {
  if (measured.empty() || measured.size() != floor.size()) throw std::invalid_argument("rounds do not match");
  std::vector<double> ratios;
  std::vector<double> differences;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!(floor[i] > 0.0)) throw std::invalid_argument("floor is not positive");
    ratios.push_back(measured[i] / floor[i]);
    differences.push_back(measured[i] - floor[i]);
  }
  comparison result;
  result.measured = median(measured);
  result.measured_low = quantile(measured, 0.25);
  result.measured_high = quantile(measured, 0.75);
  result.floor = median(floor);
  result.floor_low = quantile(floor, 0.25);
  result.floor_high = quantile(floor, 0.75);
  result.ratio_of_medians = result.measured / result.floor;
  result.median_of_ratios = median(ratios);
  result.ratio_low = quantile(ratios, 0.25);
  result.ratio_high = quantile(std::move(ratios), 0.75);
  result.median_difference = median(differences);
  result.difference_low = quantile(differences, 0.25);
  result.difference_high = quantile(std::move(differences), 0.75);
  return result;
}

}  // namespace ham::bench
