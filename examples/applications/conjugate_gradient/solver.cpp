// The method of conjugate gradients: restarts, limits, and what is checked beforehand.
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

/// How many iterations to ask for at once: so many that asking costs nothing, so few that progress shows.
class stride {
 public:
  [[nodiscard]] std::int64_t iterations() const { return iterations_; }
  void took(double seconds) {
    if (seconds < 0.025) iterations_ *= 2;
  }

 private:
  std::int64_t iterations_ = 8;
};

class iteration {
 public:
  iteration(linear_system& system, std::int64_t rows, double norm_of_b, const solver_options& options)
      : system_(system),
        options_(options),
        norm_of_b_(norm_of_b),
        limit_(options.max_iterations > 0 ? options.max_iterations : std::max<std::int64_t>(1000, 10 * rows)) {}

  solution run() {
    double before = HUGE_VAL;
    while (true) {
      const double now = std::sqrt(system_.restart(start_at::solution));
      result_.residual = norm_of_b_ > 0.0 ? now / norm_of_b_ : 0.0;
      result_.converged = result_.residual <= options_.tolerance;
      // A restart that gains next to nothing has reached what double precision can give for this matrix.
      const bool out_of_iterations = result_.iterations >= limit_;
      result_.stagnated = !result_.converged && !out_of_iterations && now > 0.5 * before;
      if (result_.converged || result_.stagnated || out_of_iterations) return std::move(result_);
      before = now;
      iterate();
    }
  }

 private:
  /// Conjugate gradients until the carried residual is small enough or the iterations are used up.
  void iterate() {
    const double goal = options_.tolerance * norm_of_b_ * options_.tolerance * norm_of_b_;  // of |r|^2
    while (result_.iterations < limit_) {
      const std::int64_t most = std::min(stride_.iterations(), limit_ - result_.iterations);
      const auto start = std::chrono::steady_clock::now();
      const iteration_report report = system_.iterate(most, goal);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      stride_.took(seconds);
      result_.seconds += seconds;
      result_.waiting += report.waiting;
      for (const double squared : report.residuals) {
        result_.history.push_back(std::sqrt(squared) / norm_of_b_);
        ++result_.iterations;
        if (options_.on_iteration) options_.on_iteration(result_.iterations, result_.history.back());
      }
      if (report.broken) fail_not_positive_definite(report.curvature);
      if (!report.residuals.empty() && report.residuals.back() <= goal) return;
    }
  }

  [[noreturn]] void fail_not_positive_definite(double curvature) const {
    throw unsuitable_matrix("the matrix is not positive definite (p.Ap = " + text(curvature) + " in iteration " +
                            std::to_string(result_.iterations + 1) + "); conjugate gradients cannot solve it");
  }

  linear_system& system_;
  const solver_options& options_;
  double norm_of_b_;
  std::int64_t limit_;
  stride stride_;
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

std::vector<double> inverse_of_preconditioner(const csr_matrix& matrix, preconditioner precond) {
  if (precond == preconditioner::none) return std::vector<double>(static_cast<std::size_t>(matrix.rows()), 1.0);
  std::vector<double> inverse = diagonal(matrix);
  for (double& d : inverse) d = 1.0 / d;
  return inverse;
}

solution solve(linear_system& system, std::int64_t rows, double norm_of_b, const solver_options& options) {
  return iteration(system, rows, norm_of_b, options).run();
}

double norm(std::span<const double> v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

double relative_residual(const csr_matrix& matrix, std::span<const double> x, std::span<const double> b) {
  std::vector<double> residual(b.size());
  multiply(matrix, x, residual);
  for (std::size_t i = 0; i < b.size(); ++i) residual[i] = b[i] - residual[i];
  const double length = norm(b);
  return length > 0.0 ? norm(residual) / length : 0.0;
}

}  // namespace cg
