// The arithmetic of one iteration on the rows of one process. The solver in this process and the targets use the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "csr_matrix.hpp"

namespace cg {

/// Plain memory of the process that computes. Vectors have one element per row; `p` has those of the halo behind them.
struct block_view {
  std::size_t rows = 0;
  const std::uint64_t* row_start = nullptr;
  const std::int32_t* column = nullptr;
  const double* value = nullptr;
  const double* inverse_diagonal = nullptr;  ///< the preconditioner M^-1; ones for none
  const double* b = nullptr;                 ///< right-hand side
  double* x = nullptr;                       ///< solution
  double* r = nullptr;                       ///< residual
  double* p = nullptr;                       ///< search direction
  double* q = nullptr;                       ///< A p
};

/// What the rows of one process add to the dot products of the residual; z = M^-1 r.
struct residual_dots {
  double rz = 0.0;
  double rr = 0.0;
};

/// q = A p for some of the rows. Gives their part of p.q.
double multiply(const block_view& block, std::span<const row_range> rows);

/// r -= step q
residual_dots reduce_residual(const block_view& block, double step);

/// x += step p, p = z + turn p
void advance(const block_view& block, double step, double turn);

/// p = x: with q = A p behind it, restart() takes the residual of x.
void load_solution(const block_view& block);
/// r = b - q, p = z
residual_dots restart(const block_view& block);

}  // namespace cg
