// The method of conjugate gradients: the host steers, the targets do the arithmetic on long vectors.
#include "solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>

namespace cg {
namespace {

std::string text(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%g", number);
  return buffer;
}

double norm(std::span<const double> v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

std::vector<double> inverse_of_preconditioner(const csr_matrix& matrix, preconditioner precond) {
  if (precond == preconditioner::none) return std::vector<double>(static_cast<std::size_t>(matrix.rows()), 1.0);
  std::vector<double> inverse = diagonal(matrix);
  for (double& d : inverse) d = 1.0 / d;
  return inverse;
}

class iteration {
 public:
  iteration(const csr_matrix& matrix, std::span<const double> b, const solver_options& options)
      : matrix_(matrix),
        b_(b),
        options_(options),
        norm_of_b_(norm(b)),
        system_(matrix, inverse_of_preconditioner(matrix, options.precond)),
        direction_(b.size()),
        preconditioned_(b.size()),
        residual_(b.begin(), b.end()) {
    result_.x.resize(b.size());
    limit_ = options.max_iterations > 0 ? options.max_iterations : std::max<std::int64_t>(1000, 10 * matrix.rows());
  }

  solution run() {
    while (norm_of_b_ > 0.0 && !result_.converged && result_.iterations < limit_) {
      const double before = norm(residual_);
      iterate_from(residual_);
      system_.gather_solution(result_.x);
      update_true_residual();
      result_.converged = result_.residual <= options_.tolerance;
      // A restart that gains next to nothing has reached what double precision can give for this matrix.
      result_.stagnated = !result_.converged && result_.iterations < limit_ && norm(residual_) > 0.5 * before;
      if (result_.stagnated) break;
    }
    if (norm_of_b_ == 0.0) result_.converged = true;
    result_.costs = system_.costs();
    result_.shares = system_.shares();
    return std::move(result_);
  }

 private:
  /// Conjugate gradients until the carried residual is small enough or the iterations are used up.
  void iterate_from(std::span<const double> residual) {
    residual_share now = system_.set_residual(residual);
    system_.gather_preconditioned(preconditioned_);
    direction_ = preconditioned_;
    while (result_.iterations < limit_) {
      const double curvature = system_.multiply(direction_);
      ++result_.iterations;
      if (!(curvature > 0.0) || !std::isfinite(curvature)) fail_not_positive_definite(curvature);
      const residual_share next = system_.advance(now.residual_dot_preconditioned / curvature);
      const double relative = std::sqrt(next.residual_dot_residual) / norm_of_b_;
      if (options_.on_iteration) options_.on_iteration(result_.iterations, relative);
      if (relative <= options_.tolerance) return;

      system_.gather_preconditioned(preconditioned_);
      const double beta = next.residual_dot_preconditioned / now.residual_dot_preconditioned;
      for (std::size_t i = 0; i < direction_.size(); ++i) direction_[i] = preconditioned_[i] + beta * direction_[i];
      now = next;
    }
  }

  void update_true_residual() {
    multiply(matrix_, result_.x, residual_);
    for (std::size_t i = 0; i < residual_.size(); ++i) residual_[i] = b_[i] - residual_[i];
    result_.residual = norm(residual_) / norm_of_b_;
  }

  [[noreturn]] void fail_not_positive_definite(double curvature) const {
    throw unsuitable_matrix("the matrix is not positive definite (p.Ap = " + text(curvature) + " in iteration " +
                            std::to_string(result_.iterations) + "); conjugate gradients cannot solve it");
  }

  const csr_matrix& matrix_;
  std::span<const double> b_;
  const solver_options& options_;
  double norm_of_b_;
  std::int64_t limit_ = 0;
  distributed_system system_;
  std::vector<double> direction_;
  std::vector<double> preconditioned_;
  std::vector<double> residual_;
  solution result_;
};

}  // namespace

void check_suitable(const csr_matrix& matrix) {
  if (matrix.rows() != matrix.columns) {
    throw unsuitable_matrix("the matrix has " + std::to_string(matrix.rows()) + " rows and " +
                            std::to_string(matrix.columns) +
                            " columns (it must be square); conjugate gradients cannot solve it");
  }
  const std::vector<double> d = diagonal(matrix);
  const auto bad = std::find_if(d.begin(), d.end(), [](double value) { return !(value > 0.0); });
  if (bad != d.end()) {
    throw unsuitable_matrix("the diagonal element of row " + std::to_string(bad - d.begin() + 1) + " is " + text(*bad) +
                            " (those of a positive definite matrix are positive); conjugate gradients cannot solve it");
  }
  constexpr double least = 1e-140;  // the squares of what is beyond leave double precision
  constexpr double most = 1e140;
  const auto extreme = std::find_if(d.begin(), d.end(), [](double value) { return value < least || value > most; });
  if (extreme != d.end()) {
    throw unsuitable_matrix("the diagonal element of row " + std::to_string(extreme - d.begin() + 1) + " is " +
                            text(*extreme) + " (squares of such numbers leave double precision); scale the matrix");
  }
  if (const auto e = find_asymmetry(matrix)) {
    throw unsuitable_matrix("the matrix is not symmetric (element (" + std::to_string(e->row + 1) + ", " +
                            std::to_string(e->column + 1) +
                            ") differs from its mirror image); conjugate gradients cannot solve it");
  }
}

solution solve(const csr_matrix& matrix, std::span<const double> b, const solver_options& options) {
  const auto start = std::chrono::steady_clock::now();
  solution result = iteration(matrix, b, options).run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cg
