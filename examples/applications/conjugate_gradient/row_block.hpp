// One target's share of the linear system, and the functions that run on it there.
#pragma once

#include <ham/offload.hpp>

#include <cstddef>
#include <cstdint>

namespace cg {

/// Rows of the matrix and the matching pieces of the solver's vectors. The struct itself lies in the memory of its
/// target too, so that a call carries one handle instead of nine.
struct row_block {
  template <class T>
  using pointer = ham::offload::buffer_ptr<T>;

  std::uint64_t rows = 0;
  std::uint64_t own_begin = 0;       ///< where this block's piece of the direction begins in the window
  pointer<std::uint64_t> row_start;  ///< rows + 1 offsets into `column` and `value`
  pointer<std::int32_t> column;      ///< relative to the window
  pointer<double> value;
  pointer<double> inverse_diagonal;  ///< the preconditioner; ones for none
  pointer<double> window;            ///< the elements of the search direction p that these rows read
  pointer<double> product;           ///< q = A p
  pointer<double> solution;          ///< x
  pointer<double> residual;          ///< r
  pointer<double> preconditioned;    ///< z = M^-1 r

  HAM_FIELDS(rows, own_begin, row_start, column, value, inverse_diagonal, window, product, solution, residual,
             preconditioned)
};

/// What a block adds to a dot product, and how long its target computed (in seconds).
struct product_share {
  double direction_dot_product = 0.0;  ///< p.q
  double seconds = 0.0;

  HAM_FIELDS(direction_dot_product, seconds)
};

/// What a block adds to the two dot products of the residual.
struct residual_share {
  double residual_dot_preconditioned = 0.0;  ///< r.z
  double residual_dot_residual = 0.0;        ///< r.r
  double seconds = 0.0;

  HAM_FIELDS(residual_dot_preconditioned, residual_dot_residual, seconds)
};

namespace on_target {

using block_ptr = ham::offload::buffer_ptr<const row_block>;

/// Keeps the handle there, x = 0. A call rather than a put: the target may lay structs out differently.
void install(ham::offload::buffer_ptr<row_block> at, const row_block& block);
/// z = M^-1 r
residual_share precondition(block_ptr block);
/// q = A p
product_share multiply(block_ptr block);
/// x += step p, r -= step q, z = M^-1 r
residual_share advance(block_ptr block, double step);
/// Nothing: shows what a call costs.
void nothing();

}  // namespace on_target
}  // namespace cg
