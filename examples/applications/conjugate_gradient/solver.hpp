// The method of conjugate gradients with a Jacobi preconditioner, steered by scalars: how far, how often, when to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "csr_matrix.hpp"
#include "linear_system.hpp"

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
  bool converged = false;  ///< `residual` is within the tolerance
  bool stagnated = false;  ///< given up because restarts no longer help: rounding errors are the limit
  double residual = 0.0;   ///< |b - A x| / |b|, computed anew from x
  std::int64_t iterations = 0;
  double seconds = 0.0;         ///< of all iterations
  double waiting = 0.0;         ///< of these: average over the targets, waiting for others' messages
  std::vector<double> history;  ///< relative residual after each iteration, as it is carried along
};

/// Checks that the matrix is square, symmetric and has a positive diagonal; throws unsuitable_matrix.
void check_suitable(const csr_matrix& matrix);

/// The diagonal of M^-1.
std::vector<double> inverse_of_preconditioner(const csr_matrix& matrix, preconditioner precond);

/// Solves a system with `rows` rows and a right-hand side of length `norm_of_b`. The residual that the iteration
/// carries along drifts away from the true one: the latter decides, and the iteration restarts from it as long as that
/// helps. Throws unsuitable_matrix if the matrix turns out not to be positive definite, and what the system throws.
solution solve(linear_system& system, std::int64_t rows, double norm_of_b, const solver_options& options);

/// |v|
double norm(std::span<const double> v);
/// |b - A x| / |b|; 0 if b is.
double relative_residual(const csr_matrix& matrix, std::span<const double> x, std::span<const double> b);

}  // namespace cg
