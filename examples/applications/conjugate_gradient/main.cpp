// Conjugate gradient solver on any number of offload targets: the demo, and a program for real matrices.
// expect: ^converged +yes$
// expect: ^residual +[0-9.]+e[-+][0-9]+ =
#include <ham/offload.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "csr_matrix.hpp"
#include "exit_code.hpp"
#include "matrix_market.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "solver.hpp"

namespace {

ham::offload::statistics difference(const ham::offload::statistics& after, const ham::offload::statistics& before) {
  ham::offload::statistics result = after;
  result.calls_sent -= before.calls_sent;
  result.bytes_put -= before.bytes_put;
  result.bytes_got -= before.bytes_got;
  return result;
}

int run(cg::command_line options) {
  const bool generated = options.file.empty();
  const cg::csr_matrix matrix = generated ? cg::poisson_matrix(options.grid) : cg::read_matrix_market(options.file);
  const std::string grid = std::to_string(options.grid);
  cg::print_problem(generated ? "Poisson, grid of " + grid + " x " + grid : options.file, matrix, options.solver);
  cg::check_suitable(matrix);

  const std::vector<double> ones(static_cast<std::size_t>(matrix.rows()), 1.0);
  std::vector<double> b(ones.size());
  cg::multiply(matrix, ones, b);

  cg::progress shown(options.solver.tolerance);
  options.solver.on_iteration = [&shown](std::int64_t iteration, double residual) {
    shown.update(iteration, residual);
  };
  const auto before = ham::offload::stats();
  const cg::solution result = cg::solve(matrix, b, options.solver);
  const auto used = difference(ham::offload::stats(), before);
  shown.finish();

  cg::print_result(result, options.solver, used, cg::measure_empty_call());
  if (result.converged) return cg::exit_code::success;
  std::fflush(stdout);
  std::fprintf(stderr, "not converged: the relative residual is %.2e after %lld iterations, wanted %.1e (%s); %s\n",
               result.residual, static_cast<long long>(result.iterations), options.solver.tolerance,
               result.stagnated ? "rounding errors stop it here" : "iterations used up",
               result.stagnated ? "raise --tol" : "raise --max-iter or --tol, or use --precond jacobi");
  return cg::exit_code::not_converged;
}

int fail(int code, const std::exception& reason) {
  std::fflush(stdout);
  std::fprintf(stderr, "conjugate_gradient: %s\n", reason.what());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = cg::parse_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&options)) return *code;
  try {
    return run(std::get<cg::command_line>(options));
  } catch (const ham::error& failure) {
    return fail(cg::exit_code::offload_failed, failure);
  } catch (const std::exception& failure) {
    return fail(cg::exit_code::bad_input, failure);
  }
}
