// Reports as text.
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iomanip>
#include <limits>
#include <ostream>

namespace ham::inline v1::bench {

namespace {

std::string to_text(double number, int digits) {
  if (!std::isfinite(number)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string to_text(const cell& what) {
  if (const auto* text = std::get_if<std::string>(&what.value)) return *text;
  if (const auto* both = std::get_if<range>(&what.value)) {
    return to_text(both->low, what.digits) + ".." + to_text(both->high, what.digits);
  }
  return to_text(std::get<double>(what.value), what.digits);
}

void print_row(std::ostream& out, const std::vector<std::string>& texts, const std::vector<std::size_t>& widths) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out << "  ";
    if (i == 0) {
      out << std::left << std::setw(static_cast<int>(widths[i])) << texts[i] << std::right;
    } else {
      out << std::setw(static_cast<int>(widths[i])) << texts[i];
    }
  }
  out << '\n';
}

/// Quartiles follow what they are of: readers need no more than "q1" and "q3".
std::string header_of(const std::string& column) {
  if (column.rfind("quartile 1 ", 0) == 0) return "q1";
  if (column.rfind("quartile 3 ", 0) == 0) return "q3";
  return column;
}

void print(std::ostream& out, const table& what) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> headers;
  std::vector<std::size_t> widths;
  for (const std::string& column : what.columns) {
    headers.push_back(header_of(column));
    widths.push_back(headers.back().size());
  }
  for (const auto& row : what.rows) {
    auto& texts = rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      texts.push_back(to_text(row[i]));
      widths[i] = std::max(widths[i], texts.back().size());
    }
  }
  if (!what.title.empty()) out << what.title << '\n';
  print_row(out, headers, widths);
  for (const auto& texts : rows) print_row(out, texts, widths);
  out << '\n';
}

}  // namespace

cell no_number() { return {std::numeric_limits<double>::quiet_NaN(), 0}; }

cell quartiles_of_ratio(const comparison& of) { return {range{of.ratio_low, of.ratio_high}, 2}; }

void add_median(std::vector<cell>& row, const comparison& of, double unit_ns, int digits) {
  for (const double one : {of.measured, of.measured_low, of.measured_high}) row.emplace_back(one / unit_ns, digits);
}

void add_median(std::vector<cell>& row, const std::vector<double>& values_ns, double unit_ns, int digits) {
  for (const double q : {0.5, 0.25, 0.75}) row.emplace_back(quantile(values_ns, q) / unit_ns, digits);
}

void add_floor(std::vector<cell>& row, const comparison& of, double unit_ns, int digits) {
  for (const double one : {of.floor, of.floor_low, of.floor_high}) row.emplace_back(one / unit_ns, digits);
}

void add_median_columns(std::vector<std::string>& to, const std::string& name, const std::string& unit) {
  for (const char* part : {"", "quartile 1 ", "quartile 3 "}) {
    to.push_back(part + name + (name.empty() || unit.empty() ? "" : " ") + unit);
  }
}

table framework_part(const std::vector<offload_cost>& of) {
  table found{"the framework's part of an empty offload, as in paper 3's Table 1",
              {"offload over", "offload ns", "round trip ns"},
              {}};
  add_median_columns(found.columns, "framework", "ns");
  for (const char* part : {"% of the offload", "% of the round trip"}) {
    found.columns.insert(found.columns.end(), {part, std::string(part) + ": quartiles"});
  }
  const auto of_offload = [](double ratio) { return 100 * (1 - 1 / ratio); };
  const auto of_round_trip = [](double ratio) { return 100 * (ratio - 1); };
  for (const auto& [name, cost] : of) {
    found.rows.push_back({name,
                          {cost.measured, 1},
                          {cost.floor, 1},
                          {cost.median_difference, 1},
                          {cost.difference_low, 1},
                          {cost.difference_high, 1},
                          {of_offload(cost.median_of_ratios), 1},
                          {range{of_offload(cost.ratio_low), of_offload(cost.ratio_high)}, 1},
                          {of_round_trip(cost.median_of_ratios), 1},
                          {range{of_round_trip(cost.ratio_low), of_round_trip(cost.ratio_high)}, 1}});
  }
  return found;
}

bool report::all_met() const noexcept {
  return std::all_of(bars.begin(), bars.end(), [](const bar& one) { return one.met(); });
}

void print(std::ostream& out, const report& what) {
  out << "== " << what.name << " ==\n";
  for (const table& one : what.tables) print(out, one);
  for (const bar& one : what.bars) {
    const char* relation = one.wanted == bar::direction::at_most ? "<=" : ">=";
    const std::string unit = one.unit.empty() ? "" : " " + one.unit;
    out << "  " << std::left << std::setw(66) << one.name << std::right << std::setw(9) << to_text(one.value, 2) << unit
        << "  (" << relation << ' ' << to_text(one.limit, 2) << unit << ")  " << (one.met() ? "ok" : "MISSED") << '\n';
  }
  for (const std::string& remark : what.remarks) out << "  note: " << remark << '\n';
  out << '\n';
}

void print(std::ostream& out, const conditions& what) {
  out << "ham-bench on " << what.host << ", transport " << what.transport << ", " << what.cores << " core"
      << (what.cores == 1 ? "" : "s") << ", host on core " << what.host_core << ", target on core " << what.target_core
      << " (" << what.core_pair << "), " << what.repetitions << " repetitions\n\n";
}

}  // namespace ham::bench
