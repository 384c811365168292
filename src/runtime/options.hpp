// Which nodes a job has, and the --ham-* options of the command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ham/offload/runtime.hpp"

namespace ham::detail {

/// Targets that are started the same way.
struct node_group {
  std::string transport;  ///< "shm" or "loopback"
  std::size_t count = 1;
  std::vector<int> cpus;  ///< one core per target, in turn; empty: anywhere
};

/// Reads HAM_NODES: groups separated by commas, each `shm[:COUNT][@CORE[+CORE...]]` or `loopback[:COUNT]`.
/// Throws ham::config_error that shows where.
[[nodiscard]] std::vector<node_group> parse_nodes(std::string_view text);

/// Reads a list of cores: numbers and ranges separated by `separator`, "0,2-3".
[[nodiscard]] std::vector<int> parse_cores(std::string_view text, char separator);

/// Takes the --ham-* options out of a command line into `options`, filling what is empty from the environment.
/// --ham-help and --ham-list-handlers print and end the process.
void take_options(int& argc, char**& argv, runtime_options& options);
void fill_from_environment(runtime_options& options);

}  // namespace ham::detail
