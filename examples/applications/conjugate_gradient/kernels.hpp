// The arithmetic of one iteration on the rows of one process. The solver in this process and the targets use the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "csr_matrix.hpp"

namespace cg {

/// Elements of a matrix in compressed row storage.
struct csr_view {
  const std::uint64_t* row_start = nullptr;
  const std::int32_t* column = nullptr;
  const double* value = nullptr;
};

/// Plain memory of the process that computes: its rows of A and of all vectors.
struct block_view {
  std::size_t rows = 0;
  csr_view lower;                            ///< A among these rows, below the diagonal; above it, A is the same
  const double* diagonal = nullptr;          ///< of A
  csr_view outer;                            ///< A in the columns of the halo
  const double* inverse_diagonal = nullptr;  ///< the preconditioner M^-1; ones for none
  const double* b = nullptr;                 ///< right-hand side
  double* x = nullptr;                       ///< solution
  double* r = nullptr;                       ///< residual
  double* p = nullptr;                       ///< search direction
  double* q = nullptr;                       ///< A p
  double* halo = nullptr;                    ///< what is read of others' p
};

/// What the rows of one process add to the dot products of the residual; z = M^-1 r.
struct residual_dots {
  double rz = 0.0;
  double rr = 0.0;
};

/// What others read of z + turn p, which is p after the next multiply().
void copy_border(const block_view& block, double turn, std::span<const std::int32_t> rows, double* to);

/// p = z + turn p, q = A p but for the halo. Gives the rows' part of p.q.
double multiply(const block_view& block, double turn);

/// Adds the halo's part to q in the rows that have one. Gives what p.q grows by.
double multiply_halo(const block_view& block, std::span<const row_range> boundary);

/// x += step p, r -= step q
residual_dots advance(const block_view& block, double step);

/// p = x, r = 0: a product with turn 1 makes q = A x of it, and restart() takes the residual of x.
void load_solution(const block_view& block);
/// r = b - q
residual_dots restart(const block_view& block);

}  // namespace cg
