// Quartiles as ham-bench computes them.
#include "common/quartiles.hpp"

#include "bench/statistics.hpp"

namespace app {

quartiles quartiles_of(const std::vector<double>& values) {
  return {ham::bench::quantile(values, 0.25), ham::bench::quantile(values, 0.5), ham::bench::quantile(values, 0.75)};
}

std::vector<std::string> quartile_columns(const std::string& what, const std::string& unit) {
  const std::string in_unit = " (" + unit + ")";
  return {what + in_unit, "lower quartile" + in_unit, "upper quartile" + in_unit};
}

std::vector<std::string> further_quartile_columns(const std::string& what, const std::string& unit) {
  const std::string name = what + " (" + unit + ")";
  return {name, "lower quartile, " + name, "upper quartile, " + name};
}

std::vector<ham::bench::cell> cells_of(const quartiles& what, int digits) {
  return {{what.median, digits}, {what.low, digits}, {what.high, digits}};
}

ham::bench::cell spread_of(const quartiles& what, int digits, double factor) {
  return {ham::bench::range{factor * what.low, factor * what.high}, digits};
}

}  // namespace app
