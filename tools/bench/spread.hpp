// Quartiles of figures that are computed from measured times.
#pragma once

#include "report.hpp"

#include <string>
#include <vector>

namespace ham::inline v1::bench {

/// Appends "NAME" and "NAME: quartiles".
inline void add_spread_columns(std::vector<std::string>& to, const std::string& name) {
  to.insert(to.end(), {name, name + ": quartiles"});
}

/// Appends the median of `amount` / time and its quartiles: a rate is lowest where the time is longest.
inline void add_rate(std::vector<cell>& row, double amount, double median, range quartiles, int digits) {
  row.insert(row.end(), {{amount / median, digits}, {range{amount / quartiles.high, amount / quartiles.low}, digits}});
}
inline void add_rate(std::vector<cell>& row, double amount, const std::vector<double>& times_ns, int digits) {
  add_rate(row, amount, median(times_ns), {quantile(times_ns, 0.25), quantile(times_ns, 0.75)}, digits);
}

/// Appends the median of the rounds' ratios and its quartiles.
inline void add_ratio(std::vector<cell>& row, const comparison& of, int digits) {
  row.insert(row.end(), {{of.median_of_ratios, digits}, {range{of.ratio_low, of.ratio_high}, digits}});
}

/// Appends what part of the floor's speed is reached, and its quartiles.
inline void add_part(std::vector<cell>& row, const comparison& of, int digits) {
  add_rate(row, 1, of.median_of_ratios, {of.ratio_low, of.ratio_high}, digits);
}

/// Appends `what` in another unit, and its quartiles.
inline void add_scaled(std::vector<cell>& row, double factor, double median, range quartiles, int digits) {
  row.insert(row.end(), {{factor * median, digits}, {range{factor * quartiles.low, factor * quartiles.high}, digits}});
}

/// Of two that were not measured in turns: the quotient of the medians, and the widest that the quartiles of both
/// allow.
inline void add_quotient(std::vector<cell>& row, double over, range over_quartiles, double under, range under_quartiles,
                         int digits) {
  row.insert(row.end(),
             {{over / under, digits},
              {range{over_quartiles.low / under_quartiles.high, over_quartiles.high / under_quartiles.low}, digits}});
}
inline void add_quotient(std::vector<cell>& row, const comparison& over, const comparison& under, int digits) {
  add_quotient(row, over.measured, {over.measured_low, over.measured_high}, under.measured,
               {under.measured_low, under.measured_high}, digits);
}

}  // namespace ham::bench
