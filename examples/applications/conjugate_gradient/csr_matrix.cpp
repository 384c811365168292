// Sparse matrix in compressed row storage: building, cutting into blocks, host arithmetic.
#include "csr_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace cg {
namespace {

const double* find(const csr_matrix& matrix, std::int32_t row, std::int32_t column) {
  const auto begin = matrix.column.begin() + static_cast<std::ptrdiff_t>(matrix.row_start[row]);
  const auto end = matrix.column.begin() + static_cast<std::ptrdiff_t>(matrix.row_start[row + 1]);
  const auto place = std::lower_bound(begin, end, column);
  if (place == end || *place != column) return nullptr;
  return &matrix.value[static_cast<std::size_t>(place - matrix.column.begin())];
}

}  // namespace

csr_matrix make_csr(std::int32_t rows, std::int32_t columns, std::span<const entry> entries) {
  // Counting sort by row keeps this linear; only the few entries of one row are sorted by comparison.
  std::vector<std::uint64_t> next(static_cast<std::size_t>(rows) + 1, 0);
  for (const entry& e : entries) {
    assert(e.row >= 0 && e.row < rows && e.column >= 0 && e.column < columns);
    ++next[static_cast<std::size_t>(e.row) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<entry> sorted(entries.size());
  for (const entry& e : entries) sorted[next[static_cast<std::size_t>(e.row)]++] = e;

  csr_matrix matrix;
  matrix.columns = columns;
  matrix.row_start.reserve(static_cast<std::size_t>(rows) + 1);
  matrix.column.reserve(entries.size());
  matrix.value.reserve(entries.size());
  auto row_begin = sorted.begin();
  for (std::int32_t row = 0; row < rows; ++row) {
    const auto row_end = sorted.begin() + static_cast<std::ptrdiff_t>(next[static_cast<std::size_t>(row)]);
    std::stable_sort(row_begin, row_end, [](const entry& a, const entry& b) { return a.column < b.column; });
    for (; row_begin != row_end; ++row_begin) {
      const bool repeated = matrix.column.size() > matrix.row_start.back() && matrix.column.back() == row_begin->column;
      if (repeated) {
        matrix.value.back() += row_begin->value;
      } else {
        matrix.column.push_back(row_begin->column);
        matrix.value.push_back(row_begin->value);
      }
    }
    matrix.row_start.push_back(matrix.value.size());
  }
  return matrix;
}

csr_matrix poisson_matrix(std::int32_t side) {
  csr_matrix matrix;
  matrix.columns = side * side;
  const auto rows = static_cast<std::size_t>(matrix.columns);
  matrix.row_start.reserve(rows + 1);
  matrix.column.reserve(5 * rows);
  matrix.value.reserve(5 * rows);
  const auto add = [&matrix](std::int32_t column, double value) {
    matrix.column.push_back(column);
    matrix.value.push_back(value);
  };
  for (std::int32_t y = 0; y < side; ++y) {
    for (std::int32_t x = 0; x < side; ++x) {
      const std::int32_t row = y * side + x;
      if (y > 0) add(row - side, -1.0);
      if (x > 0) add(row - 1, -1.0);
      add(row, 4.0);
      if (x + 1 < side) add(row + 1, -1.0);
      if (y + 1 < side) add(row + side, -1.0);
      matrix.row_start.push_back(matrix.value.size());
    }
  }
  return matrix;
}

void multiply(const csr_matrix& matrix, std::span<const double> x, std::span<double> y) {
  for (std::size_t row = 0; row + 1 < matrix.row_start.size(); ++row) {
    double sum = 0.0;
    for (std::uint64_t k = matrix.row_start[row]; k < matrix.row_start[row + 1]; ++k) {
      sum += matrix.value[k] * x[static_cast<std::size_t>(matrix.column[k])];
    }
    y[row] = sum;
  }
}

std::vector<double> diagonal(const csr_matrix& matrix) {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(matrix.rows()));
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    const double* value = find(matrix, row, row);
    result.push_back(value != nullptr ? *value : 0.0);
  }
  return result;
}

std::optional<entry> find_asymmetry(const csr_matrix& matrix) {
  constexpr double rounding = 1e-12;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    for (std::uint64_t k = matrix.row_start[row]; k < matrix.row_start[row + 1]; ++k) {
      const double* mirrored = find(matrix, matrix.column[k], row);
      const double difference = std::abs(matrix.value[k] - (mirrored != nullptr ? *mirrored : 0.0));
      if (difference > rounding * std::abs(matrix.value[k])) return entry{row, matrix.column[k], matrix.value[k]};
    }
  }
  return std::nullopt;
}

std::vector<row_range> partition_by_nonzeros(const csr_matrix& matrix, std::size_t parts) {
  std::vector<row_range> ranges;
  std::int32_t first = 0;
  for (std::size_t part = 1; part <= parts && first < matrix.rows(); ++part) {
    std::int32_t last = matrix.rows();
    if (part < parts) {
      // The row boundary closest to this part's share: a range may not grow past it by more than half a row.
      const double share =
          static_cast<double>(matrix.nonzeros()) * static_cast<double>(part) / static_cast<double>(parts);
      const auto above = std::lower_bound(matrix.row_start.begin() + first + 1, matrix.row_start.end() - 1,
                                          static_cast<std::uint64_t>(share));
      last = static_cast<std::int32_t>(above - matrix.row_start.begin());
      const bool below_is_closer = last - 1 > first && share - static_cast<double>(matrix.row_start[last - 1]) <
                                                           static_cast<double>(matrix.row_start[last]) - share;
      if (below_is_closer) --last;
    }
    ranges.push_back({first, last});
    first = last;
  }
  return ranges;
}

}  // namespace cg
