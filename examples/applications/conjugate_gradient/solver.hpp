// The method of conjugate gradients on the distributed system.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "distributed_system.hpp"

namespace cg {

enum class preconditioner { none, jacobi };

/// The matrix is not one that conjugate gradients can solve; what() says where that shows.
class unsuitable_matrix : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct solver_options {
  double tolerance = 1e-8;          ///< bound on |b - A x| / |b|
  std::int64_t max_iterations = 0;  ///< zero: ten times the number of rows, at least 1000
  preconditioner precond = preconditioner::jacobi;
  std::function<void(std::int64_t iteration, double residual)> on_iteration;  ///< may be empty
};

struct solution {
  std::vector<double> x;
  bool converged = false;  ///< `residual` is within the tolerance
  bool stagnated = false;  ///< given up because restarts no longer help: rounding errors are the limit
  double residual = 0.0;   ///< |b - A x| / |b|, computed on the host from x
  std::int64_t iterations = 0;
  double seconds = 0.0;  ///< from the first put of a matrix block to the last get of x
  solver_costs costs;
  std::vector<distributed_system::share> shares;
};

/// Checks that the matrix is square, symmetric and has a positive diagonal; throws unsuitable_matrix.
void check_suitable(const csr_matrix& matrix);

/// Solves A x = b on all targets, starting from x = 0. The residual that the iteration carries along drifts away from
/// the true one: the latter decides, and the iteration restarts from it as long as that helps.
/// Throws unsuitable_matrix if the matrix turns out not to be positive definite, and what ham::offload throws.
solution solve(const csr_matrix& matrix, std::span<const double> b, const solver_options& options);

}  // namespace cg
