// A program that waits for hosts on other machines: --ham-serve.
#pragma once

#include <string>
#include <vector>

#include "ham/offload/runtime.hpp"
#include "job/run_target.hpp"

namespace ham::inline v1::detail {

/// Serves hosts that connect to options.serve, as many at once as options.jobs says, each in a process of its own. A
/// host that leaves or dies, or a call that crashes, ends the process of its job only. Returns in such a process when
/// its job has ended, or as soon as main is to run there (run_target.hpp); the waiting process itself stays until it is
/// ended by a signal. `command`: this program with its arguments, for targets that a host wants behind it. Throws
/// ham::config_error.
[[nodiscard]] target_of_main serve_hosts(const runtime_options& options, std::vector<std::string> command);

}  // namespace ham::detail
