// What a benchmark reports: tables, the bars it is held against, and remarks; printed as text or as JSON.
#pragma once

#include "statistics.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ham::inline v1::bench {

/// From the lower to the upper quartile.
struct range {
  double low = 0;
  double high = 0;
};

/// A text, or one or two numbers with the digits that the table shows after the point.
struct cell {
  cell(std::string text) : value(std::move(text)) {}    // NOLINT(google-explicit-constructor)
  cell(const char* text) : value(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  cell(double number, int digits_shown) : value(number), digits(digits_shown) {}

  cell(range both, int digits_shown) : value(both), digits(digits_shown) {}

  std::variant<std::string, double, range> value;
  int digits = 0;
};

/// A number that was not measured: "-" in a table, null in JSON.
[[nodiscard]] cell no_number();

/// Cell of a count.
template <class Integer>
[[nodiscard]] cell count(Integer number) {
  return {static_cast<double>(number), 0};
}

struct table {
  std::string title;
  std::vector<std::string> columns;  ///< with units; also the keys in JSON
  std::vector<std::vector<cell>> rows;
};

/// The quartiles of the rounds' ratios: "1.05..1.12" in a table, two numbers in JSON.
[[nodiscard]] cell quartiles_of_ratio(const comparison& of);

/// Appends median, lower and upper quartile of the measurement, divided by `unit_ns`: for the columns of
/// add_median_columns().
void add_median(std::vector<cell>& row, const comparison& of, double unit_ns, int digits);
void add_median(std::vector<cell>& row, const std::vector<double>& values_ns, double unit_ns, int digits);

/// The same of its floor, for the columns of add_median_columns() with the name "floor".
void add_floor(std::vector<cell>& row, const comparison& of, double unit_ns, int digits);

/// "NAME UNIT", "quartile 1 NAME UNIT", "quartile 3 NAME UNIT"; one of the two may be empty.
void add_median_columns(std::vector<std::string>& to, const std::string& name, const std::string& unit);

/// An empty offload beside the bare round trip of its medium.
struct offload_cost {
  std::string name;
  comparison cost;
};

/// Paper 3's Table 1: what the framework adds to the round trip of the medium.
[[nodiscard]] table framework_part(const std::vector<offload_cost>& of);

/// A promise and what was found.
struct bar {
  enum class direction { at_most, at_least };

  std::string name;
  double value = 0;
  direction wanted = direction::at_most;
  double limit = 0;
  std::string unit;

  /// False also for a value that is not a number.
  [[nodiscard]] bool met() const noexcept { return wanted == direction::at_most ? value <= limit : value >= limit; }
};

/// Result of one subcommand.
struct report {
  std::string name;
  std::vector<table> tables;
  std::vector<bar> bars;
  std::vector<std::string> remarks;

  [[nodiscard]] bool all_met() const noexcept;
};

/// Prints tables with aligned columns, then a line per bar that ends in "ok" or "MISSED".
void print(std::ostream& out, const report& what);

/// The conditions all reports of this run were made under.
struct conditions {
  std::string host;
  std::string transport;
  int cores = 0;
  int host_core = 0;
  int target_core = 0;
  std::string core_pair;  ///< what the two share
  int repetitions = 0;
};

void print(std::ostream& out, const conditions& what);

/// True if this program was built with JSON output.
[[nodiscard]] bool json_available() noexcept;

/// Prints everything as one JSON object. Throws std::logic_error if JSON is not available.
void print_json(std::ostream& out, const conditions& where, const std::vector<report>& reports);

}  // namespace ham::bench
