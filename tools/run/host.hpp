// How the host process is started: its HAM_NODES, and pipes for the output of the nodes of this machine.
#pragma once

#include "channel.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "process.hpp"
#include "streams.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ham::inline v1::run {

/// The value of HAM_NODES. `address_of_node` gives where the remote group with that first node waits; `start_local` the
/// words that start a single local target, or nothing where the host's own program does.
[[nodiscard]] std::string node_list(const std::vector<target_group>& groups,
                                    const std::function<std::string(std::size_t first)>& address_of_node,
                                    const std::function<std::vector<std::string>(std::size_t first)>& start_local);

/// Words that start `program` with its output going to two inherited descriptors.
[[nodiscard]] std::vector<std::string> redirected(const std::string& program, int out, int err);

}  // namespace ham::run
