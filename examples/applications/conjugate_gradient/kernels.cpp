// Loops over plain memory. As few passes over the vectors as the method allows: memory is what limits them.
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace cg {
namespace {

// Sums that do not wait for each other: the compiler may not reorder additions by itself.
constexpr std::size_t lanes = 8;
using partial_sums = std::array<double, lanes>;

double total(const partial_sums& sums) { return std::accumulate(sums.begin(), sums.end(), 0.0); }

/// Calls `step(row, lane)` for all rows.
template <class Step>
void for_each_row(std::size_t rows, Step step) {
  std::size_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) step(row + lane, lane);
  }
  for (; row < rows; ++row) step(row, 0);
}

}  // namespace

double multiply(const block_view& block, std::span<const row_range> rows) {
  const std::uint64_t* const row_start = block.row_start;
  const std::int32_t* const column = block.column;
  const double* const value = block.value;
  const double* const p = block.p;
  double dot = 0.0;
  for (const row_range range : rows) {
    const auto last = static_cast<std::size_t>(range.last);
    for (auto row = static_cast<std::size_t>(range.first); row < last; ++row) {
      double sum = 0.0;
      for (std::uint64_t k = row_start[row]; k < row_start[row + 1]; ++k) sum += value[k] * p[column[k]];
      block.q[row] = sum;
      dot += p[row] * sum;
    }
  }
  return dot;
}

residual_dots reduce_residual(const block_view& block, double step) {
  const double* const __restrict inverse_diagonal = block.inverse_diagonal;
  const double* const __restrict q = block.q;
  double* const __restrict r = block.r;
  partial_sums rz{}, rr{};
  for_each_row(block.rows, [&](std::size_t row, std::size_t lane) {
    const double residual = r[row] - step * q[row];
    r[row] = residual;
    rz[lane] += residual * residual * inverse_diagonal[row];
    rr[lane] += residual * residual;
  });
  return {total(rz), total(rr)};
}

void advance(const block_view& block, double step, double turn) {
  const double* const __restrict inverse_diagonal = block.inverse_diagonal;
  const double* const __restrict r = block.r;
  double* const __restrict x = block.x;
  double* const __restrict p = block.p;
  for (std::size_t row = 0; row < block.rows; ++row) {
    x[row] += step * p[row];
    p[row] = inverse_diagonal[row] * r[row] + turn * p[row];
  }
}

void load_solution(const block_view& block) { std::copy_n(block.x, block.rows, block.p); }

residual_dots restart(const block_view& block) {
  residual_dots dots;
  for (std::size_t row = 0; row < block.rows; ++row) {
    const double residual = block.b[row] - block.q[row];
    block.r[row] = residual;
    block.p[row] = block.inverse_diagonal[row] * residual;
    dots.rz += residual * block.p[row];
    dots.rr += residual * residual;
  }
  return dots;
}

}  // namespace cg
