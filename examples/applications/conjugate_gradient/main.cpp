// Conjugate gradient solver on any number of offload targets: the demo, and a program for real matrices.
// expect: ^converged +yes$
// expect: ^residual +[0-9.]+e[-+][0-9]+ =
// expect: ^in turns +[0-9]+ rounds
// expect: ^without HAM +[0-9.]+ (us|ms|s) per iteration
// expect: ^speed-up +[0-9.]+ = 1 thread / [0-9]+ targets?
// expect: ^through host +[0-9]{1,3} bytes per iteration
// expect: ^among targets +[0-9.]+ (bytes|kB) per iteration
// expect: ^a call costs +[0-9.]+ (us|ms) to an empty function
#include <ham/offload.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "comparison.hpp"
#include "cores.hpp"
#include "csr_matrix.hpp"
#include "exit_code.hpp"
#include "local_system.hpp"
#include "matrix_market.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "solver.hpp"

namespace {

namespace offload = ham::offload;

offload::statistics difference(const offload::statistics& after, const offload::statistics& before) {
  offload::statistics result = after;
  result.calls_sent -= before.calls_sent;
  result.bytes_sent -= before.bytes_sent;
  result.bytes_received -= before.bytes_received;
  result.bytes_put -= before.bytes_put;
  result.bytes_got -= before.bytes_got;
  return result;
}

/// Unless HAM_NODES, --ham-nodes or an MPI launcher says otherwise: a target on each core that this process may use.
/// Pinned, because targets that wait for each other tend to be put on one core. The host sleeps meanwhile.
std::string target_per_core() {
  const std::vector<int> usable = cg::usable_cores();
  if (usable.empty()) return "shm:1";
  std::string cores;
  for (const int core : usable) cores += (cores.empty() ? "@" : "+") + std::to_string(core);
  return "shm:" + std::to_string(usable.size()) + cores;
}

/// What the targets have sent, to whomever.
std::uint64_t sent_by_targets() {
  std::uint64_t sum = 0;
  for (ham::node_t node = 1; node < static_cast<ham::node_t>(offload::num_nodes()); ++node) {
    sum += offload::sync(node, ham::fn<&cg::on_target::bytes_sent>);
  }
  return sum;
}

/// A core of this machine for each target, or none: those that the targets run on.
std::vector<int> cores_of(const std::vector<cg::distributed_system::share>& shares) {
  const std::vector<int> usable = cg::usable_cores();
  std::vector<int> cores;
  for (const auto& share : shares) {
    const int core = offload::sync(share.node, ham::fn<&cg::on_target::core>);
    const bool here = offload::get_node_descriptor(share.node).name() == offload::get_node_descriptor(0).name();
    const bool free = std::find(cores.begin(), cores.end(), core) == cores.end();
    if (!here || !free || std::find(usable.begin(), usable.end(), core) == usable.end()) return {};
    cores.push_back(core);
  }
  return cores;
}

/// The system on all targets beside one on a single target, and beside this process. Even cores of one machine differ
/// while others use them: what runs in this process uses those of the targets, if it can.
cg::comparison compare(cg::distributed_system& targets, const cg::csr_matrix& matrix,
                       const std::vector<double>& inverse_diagonal, const std::vector<double>& b,
                       const cg::solution& solved, const cg::command_line& options) {
  const auto iterations = std::max<std::int64_t>(1, solved.iterations);
  const double seconds = solved.seconds / static_cast<double>(iterations);
  if (options.targets_only) {
    return cg::compare_in_turns({&targets, nullptr, nullptr, nullptr, options.turn_ms * 1e-3}, iterations, seconds,
                                [](int) {});
  }
  const std::size_t count = targets.shares().size();
  const std::vector<int> cores = cores_of(targets.shares());
  std::optional<cg::distributed_system> one_target;
  if (count > 1) one_target.emplace(matrix, inverse_diagonal, b, 1);
  cg::local_system one_thread(matrix, inverse_diagonal, b);
  std::optional<cg::local_system> threads;
  if (count > 1 && count <= cg::usable_cores().size()) threads.emplace(matrix, inverse_diagonal, b, count, cores);

  const cg::contestants who{&targets, one_target ? &*one_target : nullptr, &one_thread, threads ? &*threads : nullptr,
                            options.turn_ms * 1e-3};
  return cg::compare_in_turns(who, iterations, seconds, [&](int round) {
    if (!cores.empty()) one_thread.use_cores({cores[static_cast<std::size_t>(round) % cores.size()]});
  });
}

cg::outcome offloaded(const cg::csr_matrix& matrix, const std::vector<double>& inverse_diagonal,
                      const std::vector<double>& b, const cg::command_line& options) {
  cg::outcome result;
  const auto start = std::chrono::steady_clock::now();
  cg::distributed_system system(matrix, inverse_diagonal, b);
  result.setup_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.shares = system.shares();

  const std::uint64_t sent_before = sent_by_targets();
  const auto before = offload::stats();
  result.solved = cg::solve(system, matrix.rows(), cg::norm(b), options.solver);
  result.moved.host = difference(offload::stats(), before);
  const std::uint64_t sent = sent_by_targets() - sent_before;
  result.moved.between_targets = sent - std::min(sent, result.moved.host.bytes_received);

  result.x.resize(b.size());
  system.copy_solution(result.x);
  if (options.compare) result.compared = compare(system, matrix, inverse_diagonal, b, result.solved, options);
  return result;
}

int run(cg::command_line options) {
  const bool generated = options.file.empty();
  const cg::csr_matrix matrix = generated ? cg::poisson_matrix(options.grid) : cg::read_matrix_market(options.file);
  const std::string grid = std::to_string(options.grid);
  const std::string name = generated ? "Poisson, grid of " + grid + " x " + grid : options.file;
  if (!options.json) cg::print_problem(name, matrix, options.solver);
  cg::check_suitable(matrix);
  if (!options.plot.empty()) cg::write_file(options.plot, "");  // complains now rather than after the work

  const std::vector<double> ones(static_cast<std::size_t>(matrix.rows()), 1.0);
  std::vector<double> b(ones.size());
  cg::multiply(matrix, ones, b);
  const std::vector<double> inverse_diagonal = cg::inverse_of_preconditioner(matrix, options.solver.precond);

  cg::progress shown(options.solver.tolerance);
  if (!options.json) {
    options.solver.on_iteration = [&shown](std::int64_t iteration, double residual) {
      shown.update(iteration, residual);
    };
  }
  cg::outcome result = offloaded(matrix, inverse_diagonal, b, options);
  shown.finish();

  result.residual = cg::relative_residual(matrix, result.x, b);
  result.solved.converged = result.solved.converged && result.residual <= options.solver.tolerance;
  result.empty_call_seconds = cg::measure_empty_call();
  if (options.json) {
    cg::print_json(name, matrix, result, options.solver);
  } else {
    cg::print_outcome(result, options.solver);
  }
  if (!options.plot.empty()) {
    cg::write_file(options.plot, cg::residual_plot(name, result.solved.history, options.solver.tolerance));
    if (!options.json) std::printf("%-16s%s\n", "plot", options.plot.c_str());
  }

  if (result.solved.converged) return cg::exit_code::success;
  std::fflush(stdout);
  std::fprintf(stderr, "not converged: the relative residual is %.2e after %lld iterations, wanted %.1e (%s); %s\n",
               result.residual, static_cast<long long>(result.solved.iterations), options.solver.tolerance,
               result.solved.stagnated ? "rounding errors stop it here" : "iterations used up",
               result.solved.stagnated ? "raise --tol" : "raise --max-iter or --tol, or use --precond jacobi");
  return cg::exit_code::not_converged;
}

int fail(int code, const std::exception& reason) {
  std::fflush(stdout);
  std::fprintf(stderr, "conjugate_gradient: %s\n", reason.what());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ham::runtime_options defaults;
    defaults.default_nodes = target_per_core();
    const ham::runtime targets(argc, argv, defaults);

    const auto options = cg::parse_command_line(argc, argv);
    if (const int* code = std::get_if<int>(&options)) return *code;
    return run(std::get<cg::command_line>(options));
  } catch (const ham::config_error& failure) {
    return fail(cg::exit_code::bad_input, failure);
  } catch (const ham::error& failure) {
    return fail(cg::exit_code::offload_failed, failure);
  } catch (const std::exception& failure) {
    return fail(cg::exit_code::bad_input, failure);
  }
}
