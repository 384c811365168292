// A program that waits for hosts on other machines: --ham-serve.
#pragma once

#include "ham/offload/runtime.hpp"

namespace ham::detail {

/// Serves hosts that connect to options.serve, as many at once as options.jobs says, each in a process of its own. A
/// host that leaves or dies, or a call that crashes, ends the process of its job only. Returns in such a process when
/// its job has ended; the waiting process itself stays until it is ended by a signal. Throws ham::config_error.
void serve_hosts(const runtime_options& options);

}  // namespace ham::detail
