// What the conjugate gradient programs without HAM share: options, the problem, the stopping rule, turns and output.
// All are as in examples/applications/conjugate_gradient. Nothing here communicates.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine.hpp"
#include "common/measure.hpp"
#include "csr_matrix.hpp"
#include "linear_system.hpp"
#include "matrix_market.hpp"
#include "solver.hpp"

namespace ham::inline v1::peers {

struct cg_options {
  std::string file;  ///< Matrix Market; empty: Poisson
  std::int32_t grid = 300;
  double tolerance = 1e-8;
  double seconds = 0.5;  ///< of turns
  double turn_ms = 25;   ///< of one turn
  bool json = false;
};

/// Ends the program if the command line is wrong.
inline cg_options parse_cg(int argc, char** argv) {
  cg_options given;
  for (int i = 1; i < argc; ++i) {
    const std::string_view one = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (one == "--json") {
      given.json = true;
    } else if (one == "--file" && value != nullptr) {
      given.file = argv[++i];
    } else if (one == "--grid" && value != nullptr && std::atoi(value) > 1) {
      given.grid = std::atoi(argv[++i]);
    } else if (one == "--tol" && value != nullptr && std::atof(value) > 0) {
      given.tolerance = std::atof(argv[++i]);
    } else if (one == "--turn-ms" && value != nullptr && std::atof(value) > 0) {
      given.turn_ms = std::atof(argv[++i]);
    } else if (one == "--seconds" && value != nullptr && std::atof(value) > 0) {
      given.seconds = std::atof(argv[++i]);
    } else {
      std::fprintf(stderr,
                   "%s: options: --grid N | --file MATRIX.mtx | --tol X | --seconds OF_TURNS | --turn-ms N | --json\n",
                   argv[0]);
      std::exit(2);
    }
  }
  return given;
}

/// A x = b with x = 1, and the Jacobi preconditioner.
struct cg_problem {
  explicit cg_problem(const cg_options& given)
      : matrix(given.file.empty() ? cg::poisson_matrix(given.grid) : cg::read_matrix_market(given.file)) {
    cg::check_suitable(matrix);
    const std::vector<double> ones(static_cast<std::size_t>(matrix.rows()), 1.0);
    b.resize(ones.size());
    cg::multiply(matrix, ones, b);
    inverse_diagonal = cg::inverse_of_preconditioner(matrix, cg::preconditioner::jacobi);
  }

  cg::csr_matrix matrix;
  std::vector<double> b;
  std::vector<double> inverse_diagonal;
};

/// A linear system that several processes or threads iterate on. All processes call its functions together and get the
/// same values.
class cg_system : public cg::linear_system {
 public:
  /// The first process's number, for all of them.
  virtual double agree(double number) = 0;
  virtual void wait_for_all() = 0;
};

struct cg_solved {
  std::int64_t iterations = 0;
  double seconds = 0.0;
  bool converged = false;
};

/// The rule of cg::solve: the carried residual ends the iteration, the recomputed one decides; a restart that no longer
/// helps is the end.
inline cg_solved solve(cg_system& system, std::int64_t rows, double norm_of_b, double tolerance) {
  const std::int64_t limit = std::max<std::int64_t>(1000, 10 * rows);
  const double goal = tolerance * norm_of_b * tolerance * norm_of_b;
  cg_solved result;
  double before = HUGE_VAL;
  while (true) {
    const double now = std::sqrt(system.restart(cg::start_at::solution));
    result.converged = now <= tolerance * norm_of_b;
    if (result.converged || result.iterations >= limit || now > 0.5 * before) return result;
    before = now;
    const std::int64_t begin = now_ns();
    const cg::iteration_report report = system.iterate(limit - result.iterations, goal);
    result.seconds += static_cast<double>(now_ns() - begin) * 1e-9;
    result.iterations += static_cast<std::int64_t>(report.residuals.size());
    if (report.broken) throw cg::unsuitable_matrix("the matrix is not positive definite");
  }
}

struct cg_turns {
  double best = 0.0;    ///< seconds of one iteration
  double middle = 0.0;  ///< their median
  int count = 0;
};

/// The first iterations of the method from zero, in turns, as the example measures them.
inline cg_turns measure_turns(cg_system& system, const cg_solved& solved, const cg_options& given) {
  const double one = system.agree(solved.seconds / static_cast<double>(std::max<std::int64_t>(1, solved.iterations)));
  const auto in_a_turn = static_cast<std::int64_t>(given.turn_ms * 1e-3 / std::max(one, 1e-9));
  const std::int64_t length = std::clamp<std::int64_t>(in_a_turn, 1, std::max<std::int64_t>(1, solved.iterations));
  std::vector<double> times;
  const std::int64_t start = now_ns();
  bool go_on = true;
  while (go_on) {
    system.restart(cg::start_at::zero);
    system.wait_for_all();
    const std::int64_t begin = now_ns();
    const auto done = static_cast<double>(system.iterate(length, 0.0).residuals.size());
    times.push_back(static_cast<double>(now_ns() - begin) * 1e-9 / std::max(1.0, done));
    const bool enough = times.size() >= 5 && static_cast<double>(now_ns() - start) * 1e-9 >= given.seconds;
    go_on = system.agree(enough ? 1.0 : 0.0) == 0.0;
  }
  cg_turns result;
  result.count = static_cast<int>(times.size());
  result.middle = median(times);
  result.best = times.front();  // median() sorts
  return result;
}

struct cg_description {
  std::string name;
  std::string version;
  int workers = 0;  ///< ranks or threads
  bool prints = true;
};

/// Solves, checks and measures. Status 1 if the solution is wrong.
inline int run_cg(cg_system& system, const cg_problem& problem, const cg_options& given, const cg_description& what) {
  const double norm_of_b = cg::norm(problem.b);
  const cg_solved solved = solve(system, problem.matrix.rows(), norm_of_b, given.tolerance);
  std::vector<double> x(problem.b.size());
  system.copy_solution(x);
  const cg_turns turns = measure_turns(system, solved, given);
  if (!what.prints) return 0;
  const double residual = cg::relative_residual(problem.matrix, x, problem.b);
  const bool converged = solved.converged && residual <= given.tolerance;
  const double per_iteration = solved.seconds / static_cast<double>(std::max<std::int64_t>(1, solved.iterations));
  std::printf(given.json
                  ? "{\"name\": \"%s\", \"version\": \"%s\", \"workers\": %d, \"rows\": %d, \"converged\": %s, "
                    "\"residual\": %.6e, \"iterations\": %lld, \"solve_us\": %.6g, \"turns\": %d, \"best_us\": %.6g, "
                    "\"median_us\": %.6g}\n"
                  : "%s (%s), %d workers: %d rows, converged: %s, residual %.2e, %lld iterations, %.4g us each; "
                    "%d turns: best %.4g, median %.4g us per iteration\n",
              what.name.c_str(), what.version.c_str(), what.workers, problem.matrix.rows(),
              given.json ? (converged ? "true" : "false") : (converged ? "yes" : "no"), residual,
              static_cast<long long>(solved.iterations), per_iteration * 1e6, turns.count, turns.best * 1e6,
              turns.middle * 1e6);
  return converged ? 0 : 1;
}

}  // namespace ham::peers
