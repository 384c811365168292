// Leads the output of a target that runs already into pipes of its host.
#pragma once

#include "ham/misc/types.hpp"
#include "job/target_outputs.hpp"

namespace ham::inline v1::detail {

/// Calls `node`, a process of this machine, and waits until what it writes goes into `pipes`, which stay this
/// process's. Throws ham::config_error if it cannot open them, ham::node_failure.
void redirect_output(node_t node, const output_pipes& pipes);

}  // namespace ham::detail
