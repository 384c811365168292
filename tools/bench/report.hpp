// What a benchmark reports: tables, the bars it is held against, and remarks; printed as text or as JSON.
#pragma once

#include "statistics.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ham::bench {

/// A text, or a number with the digits that the table shows after the point.
struct cell {
  cell(std::string text) : value(std::move(text)) {}    // NOLINT(google-explicit-constructor)
  cell(const char* text) : value(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  cell(double number, int digits_shown) : value(number), digits(digits_shown) {}

  std::variant<std::string, double> value;
  int digits = 0;
};

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

/// The quartiles of the rounds' ratios, as "1.05..1.12".
[[nodiscard]] std::string quartiles_text(const comparison& of);

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
  int repetitions = 0;
};

void print(std::ostream& out, const conditions& what);

/// True if this program was built with JSON output.
[[nodiscard]] bool json_available() noexcept;

/// Prints everything as one JSON object. Throws std::logic_error if JSON is not available.
void print_json(std::ostream& out, const conditions& where, const std::vector<report>& reports);

}  // namespace ham::bench
