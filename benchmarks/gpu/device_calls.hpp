// How long calls of device functions take, and calls that these make. All of a runtime that is up.
#pragma once

#include <ham/offload/node_number.hpp>

namespace gpu_benchmark {

/// An empty function, called and awaited: median of so many rounds, in us.
[[nodiscard]] double empty_call_us(ham::node_t gpu, int rounds);
/// So many calls of it under way at once.
[[nodiscard]] double pipelined_calls_per_s(ham::node_t gpu, int together);
/// A function of a node that is called by a device function and answers a number: from the device, and back to it. That
/// node may be the one of the device: then it is its process that answers.
[[nodiscard]] double device_to_node_us(ham::node_t gpu, ham::node_t to, int rounds);
/// A recorded graph of so many device functions, each of which takes the result of the one before it.
[[nodiscard]] double graph_replay_us(ham::node_t gpu, int stages, int rounds);

}  // namespace gpu_benchmark
