// Median and quartiles of repetitions.
#pragma once

#include <string>
#include <vector>

#include "bench/report.hpp"

namespace app {

struct quartiles {
  double low = 0.0;
  double median = 0.0;
  double high = 0.0;
};

/// Throws std::invalid_argument for no values.
[[nodiscard]] quartiles quartiles_of(const std::vector<double>& values);

/// The names of the columns that cells_of() fills: "WHAT (UNIT)", "lower quartile (UNIT)", "upper quartile (UNIT)".
[[nodiscard]] std::vector<std::string> quartile_columns(const std::string& what, const std::string& unit);
/// The same for a second figure of a table: "WHAT (UNIT)", "lower quartile, WHAT (UNIT)", "upper quartile, WHAT
/// (UNIT)".
[[nodiscard]] std::vector<std::string> further_quartile_columns(const std::string& what, const std::string& unit);
[[nodiscard]] std::vector<ham::bench::cell> cells_of(const quartiles& what, int digits);
/// The quartiles of a further figure, in the unit that is `factor` times as small: for a column "NAME: quartiles".
[[nodiscard]] ham::bench::cell spread_of(const quartiles& what, int digits, double factor = 1.0);

/// `first` and then `second`: for rows and columns that are put together.
template <class Element>
[[nodiscard]] std::vector<Element> joined(std::vector<Element> first, const std::vector<Element>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace app
