// The solver on the system in this process: converges, restarts, gives up with the reason.
#include "solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "local_system.hpp"

namespace {

struct problem {
  explicit problem(cg::csr_matrix a, cg::preconditioner precond = cg::preconditioner::jacobi)
      : matrix(std::move(a)),
        inverse_diagonal(cg::inverse_of_preconditioner(matrix, precond)),
        b(static_cast<std::size_t>(matrix.rows())),
        system(matrix, inverse_diagonal, (multiply_ones(), b)) {}
  void multiply_ones() { cg::multiply(matrix, std::vector<double>(b.size(), 1.0), b); }
  cg::solution solve(const cg::solver_options& options) {
    return cg::solve(system, matrix.rows(), cg::norm(b), options);
  }
  double true_residual() {
    std::vector<double> x(b.size());
    system.copy_solution(x);
    return cg::relative_residual(matrix, x, b);
  }

  cg::csr_matrix matrix;
  std::vector<double> inverse_diagonal, b;
  cg::local_system system;
};

TEST(solver, reaches_the_tolerance_and_tells_of_every_iteration) {
  problem poisson(cg::poisson_matrix(40));
  cg::solver_options options;
  std::vector<double> told;
  options.on_iteration = [&](std::int64_t iteration, double residual) {
    told.push_back(residual);
    EXPECT_EQ(iteration, static_cast<std::int64_t>(told.size()));
  };
  const cg::solution result = poisson.solve(options);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.history, told);
  EXPECT_EQ(result.iterations, static_cast<std::int64_t>(told.size()));
  EXPECT_LE(told.back(), options.tolerance);
  EXPECT_GT(told.front(), options.tolerance);
  EXPECT_LE(poisson.true_residual(), options.tolerance);
  // The method needs about as many iterations as the root of the condition number times the digits; twice is a bug.
  EXPECT_LT(result.iterations, 120);
}

TEST(solver, goes_on_where_iterations_in_parts_have_ended) {
  problem poisson(cg::poisson_matrix(30));
  const double at_start = poisson.system.restart(cg::start_at::zero);
  const std::vector<double> expected = poisson.system.iterate(20, 0.0).residuals;
  std::vector<double> x(poisson.b.size());
  poisson.system.copy_solution(x);
  // The residual that is carried along is that of the x that is there.
  EXPECT_NEAR(cg::relative_residual(poisson.matrix, x, poisson.b), std::sqrt(expected.back() / at_start), 1e-12);
  poisson.system.restart(cg::start_at::zero);
  for (const double residual : expected) EXPECT_EQ(poisson.system.iterate(1, 0.0).residuals.front(), residual);
}

/// The comparison of the demo counts on it that all contestants do the same.
TEST(solver, threads_do_the_iterations_of_one) {
  problem poisson(cg::poisson_matrix(30));
  poisson.system.restart(cg::start_at::zero);
  const std::vector<double> expected = poisson.system.iterate(40, 0.0).residuals;
  for (const std::size_t threads : {2U, 3U, 7U}) {
    cg::local_system system(poisson.matrix, poisson.inverse_diagonal, poisson.b, threads);
    for (int time = 0; time < 3; ++time) {
      system.restart(cg::start_at::zero);
      std::vector<double> residuals = system.iterate(15, 0.0).residuals;
      const std::vector<double> rest = system.iterate(25, 0.0).residuals;
      residuals.insert(residuals.end(), rest.begin(), rest.end());
      ASSERT_EQ(residuals.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(residuals[i], expected[i], 1e-9 * expected[0]);
    }
  }
}

TEST(solver, stops_at_the_limit_of_iterations) {
  problem poisson(cg::poisson_matrix(40));
  cg::solver_options options;
  options.max_iterations = 11;
  const cg::solution result = poisson.solve(options);
  EXPECT_FALSE(result.converged);
  EXPECT_FALSE(result.stagnated);
  EXPECT_EQ(result.iterations, 11);
}

TEST(solver, gives_up_where_rounding_errors_are_the_limit) {
  problem poisson(cg::poisson_matrix(40));
  cg::solver_options options;
  options.tolerance = 1e-25;
  const cg::solution result = poisson.solve(options);
  EXPECT_FALSE(result.converged);
  EXPECT_TRUE(result.stagnated);
  EXPECT_LT(result.residual, 1e-13);
}

TEST(solver, a_right_hand_side_of_zero_is_solved_at_once) {
  const std::vector<cg::entry> entries{{0, 0, 2.0}, {0, 1, -2.0}, {1, 0, -2.0}, {1, 1, 2.0}};
  problem singular(cg::make_csr(2, 2, entries));
  const cg::solution result = singular.solve({});
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.iterations, 0);
}

TEST(solver, a_matrix_that_is_not_definite_is_refused) {
  const std::vector<cg::entry> entries{{0, 0, 1.0}, {0, 1, 3.0}, {1, 0, 3.0}, {1, 1, 2.0}};
  problem indefinite(cg::make_csr(2, 2, entries));
  EXPECT_THROW(static_cast<void>(indefinite.solve({})), cg::unsuitable_matrix);
}

}  // namespace
