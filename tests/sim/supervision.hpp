// Supervised nodes of a simulated job: their settings, what prepares their processes, and how they must be at the end.
#pragma once

#include <cstdint>
#include <functional>

#include "ham/offload/supervise.hpp"
#include "sim/scheduler.hpp"
#include "sim/workload.hpp"
#include "sim/world.hpp"

namespace ham::inline v1::sim {

/// The one node of which it is noticed that it hangs.
inline constexpr node_t watched_node = 1;

/// Whether so few processes were started that some may still die: their numbers are below those of the next job.
[[nodiscard]] bool may_end_processes(const world& in);
/// Node 1 and some others are supervised from now on.
void begin_supervision(const plan& what, int nodes, world& in);
/// With any settings. `node`: the number, or a process that has it or had it.
void supervise_somehow(const plan& what, node_t number, node_t node, random_source& random, world& in);
/// At the end of a job: the number can be called, and nothing is left over on its process; or it is given up.
void expect_number_settled(node_t number, const std::function<void(node_t)>& expect_nothing_left);

}  // namespace ham::sim
