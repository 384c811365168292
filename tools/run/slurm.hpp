// The nodes of a Slurm allocation, from the variables that Slurm sets.
#pragma once

#include "machines.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::run {

/// Expands "a[01-03,7],b" to a01 a02 a03 a7 b; several brackets in one name are possible. Throws problem.
[[nodiscard]] std::vector<std::string> expand_nodes(std::string_view list);

/// Expands "2(x3),1" to 2 2 2 1. Throws problem.
[[nodiscard]] std::vector<std::size_t> expand_tasks(std::string_view list);

/// The allocation that this process is in; empty outside of one. Throws problem.
[[nodiscard]] std::vector<machine> slurm_allocation();

}  // namespace ham::run
