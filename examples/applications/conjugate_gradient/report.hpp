// What the program prints about its input and its result.
#pragma once

#include <string>

#include "csr_matrix.hpp"
#include "solver.hpp"

namespace cg {

/// Median time of a call to an empty function, in seconds.
double measure_empty_call();

void print_problem(const std::string& name, const csr_matrix& matrix, const solver_options& options);
void print_result(const solution& result, const solver_options& options, const ham::offload::statistics& used,
                  double empty_call_seconds);

}  // namespace cg
