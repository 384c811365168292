// The --ham-* options of the command line.
#pragma once

#include "ham/offload/runtime.hpp"

namespace ham::detail {

/// Takes the --ham-* options out of a command line into `options`, filling what is empty from the environment.
/// --ham-help and --ham-list-handlers print and end the process.
void take_options(int& argc, char**& argv, runtime_options& options);
void fill_from_environment(runtime_options& options);

}  // namespace ham::detail
