// What the program prints about its input and its result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "csr_matrix.hpp"
#include "distributed_system.hpp"
#include "solver.hpp"

namespace cg {

/// What a solution cost beside time, by the statistics of the runtimes.
struct traffic {
  ham::offload::statistics host;      ///< of the host, for the iterations alone
  std::uint64_t between_targets = 0;  ///< bytes that targets sent to each other meanwhile
};

/// What is known when all is done.
struct outcome {
  solution solved;
  std::vector<double> x;
  double residual = 0.0;       ///< |b - A x| / |b|, computed on the host from x
  double setup_seconds = 0.0;  ///< to bring matrix and vectors to the targets
  comparison compared;         ///< with the same solver in this process
  double empty_call_seconds = 0.0;
  std::vector<distributed_system::share> shares;
  traffic moved;
};

/// Median time of a call to an empty function of node 1 and back, in seconds.
double measure_empty_call();

void print_problem(const std::string& name, const csr_matrix& matrix, const solver_options& options);
void print_outcome(const outcome& result, const solver_options& options);
/// The same in one object: tables of rows whose keys are columns with units.
void print_json(const std::string& name, const csr_matrix& matrix, const outcome& result,
                const solver_options& options);

}  // namespace cg
