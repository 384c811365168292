// --show: what would be done.
#pragma once

#include "options.hpp"
#include "plan.hpp"

#include <ostream>
#include <vector>

namespace ham::inline v1::run {

/// Prints one command per line, each after the name of the machine that executes it.
void show(std::ostream& out, const run_options& options, const std::vector<target_group>& groups);

}  // namespace ham::run
