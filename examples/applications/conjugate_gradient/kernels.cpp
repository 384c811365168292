// Loops over plain memory, which limits them: an iteration is two passes, and reads half of the symmetric matrix.
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

void copy_border(const block_view& block, double turn, std::span<const std::int32_t> rows, double* to) {
  for (const std::int32_t row : rows) *to++ = block.inverse_diagonal[row] * block.r[row] + turn * block.p[row];
}

/// An element below the diagonal counts twice, in its own row and, mirrored, in the row of its column. That row has
/// been passed already: its p is new, its q has begun, and both are still in the cache if the column is not far away.
double multiply(const block_view& block, double turn) {
  const csr_view lower = block.lower;
  const double* const __restrict diagonal = block.diagonal;
  const double* const __restrict inverse_diagonal = block.inverse_diagonal;
  const double* const __restrict r = block.r;
  double* const __restrict p = block.p;
  double* const __restrict q = block.q;
  double dot = 0.0;
  std::uint64_t k = 0;
  for (std::size_t row = 0; row < block.rows; ++row) {
    const double own = inverse_diagonal[row] * r[row] + turn * p[row];
    const double on_diagonal = diagonal[row] * own;
    double below = 0.0;
    for (const std::uint64_t end = lower.row_start[row + 1]; k < end; ++k) {
      const double value = lower.value[k];
      const std::int32_t column = lower.column[k];
      below += value * p[column];
      q[column] += value * own;
    }
    p[row] = own;
    q[row] = on_diagonal + below;
    dot += own * (on_diagonal + 2.0 * below);
  }
  return dot;
}

double multiply_halo(const block_view& block, std::span<const row_range> boundary) {
  const csr_view outer = block.outer;
  double dot = 0.0;
  for (const row_range range : boundary) {
    for (std::int32_t row = range.first; row < range.last; ++row) {
      double sum = 0.0;
      for (std::uint64_t k = outer.row_start[row]; k < outer.row_start[row + 1]; ++k) {
        sum += outer.value[k] * block.halo[outer.column[k]];
      }
      block.q[row] += sum;
      dot += block.p[row] * sum;
    }
  }
  return dot;
}

residual_dots advance(const block_view& block, double step) {
  const double* const __restrict inverse_diagonal = block.inverse_diagonal;
  const double* const __restrict p = block.p;
  const double* const __restrict q = block.q;
  double* const __restrict x = block.x;
  double* const __restrict r = block.r;
  partial_sums rz{}, rr{};
  for_each_row(block.rows, [&](std::size_t row, std::size_t lane) {
    x[row] += step * p[row];
    const double residual = r[row] - step * q[row];
    r[row] = residual;
    rz[lane] += residual * residual * inverse_diagonal[row];
    rr[lane] += residual * residual;
  });
  return {total(rz), total(rr)};
}

void load_solution(const block_view& block) {
  std::copy_n(block.x, block.rows, block.p);
  std::fill_n(block.r, block.rows, 0.0);
}

residual_dots restart(const block_view& block) {
  residual_dots dots;
  for (std::size_t row = 0; row < block.rows; ++row) {
    const double residual = block.b[row] - block.q[row];
    block.r[row] = residual;
    dots.rz += residual * residual * block.inverse_diagonal[row];
    dots.rr += residual * residual;
  }
  return dots;
}

}  // namespace cg
