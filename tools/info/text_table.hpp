// A table of texts with aligned columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

namespace ham::inline v1::info {

/// Prints rows, the first one being the headings; the last column is not padded.
inline void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << "  ";
      if (i + 1 == row.size()) {
        out << row[i];
      } else {
        out << std::left << std::setw(static_cast<int>(widths[i])) << row[i];
      }
    }
    out << '\n';
  }
}

}  // namespace ham::info
