// What the machine can do without HAM; of the first GPU that this process sees, unless it says otherwise.
#pragma once

#include <cstddef>

namespace gpu_benchmark {

/// A word to a resident kernel and back, through pinned memory of the host: median of so many rounds, in us.
[[nodiscard]] double flag_ping_pong_us(int rounds);
/// An empty kernel, from its launch until the host knows that it has ended. `spinning`: the host polls; else it sleeps.
[[nodiscard]] double launch_and_sync_us(int rounds, bool spinning);
/// A CUDA graph of so many empty kernels, one behind the other.
[[nodiscard]] double graph_of_kernels_us(int rounds, int kernels);

struct copy_rates {
  double put, get;  ///< GB/s
};
/// cudaMemcpy of host memory that is pinned, or not.
[[nodiscard]] copy_rates copy_gb_per_s(std::size_t bytes, bool pinned);

/// GPUs that this process sees.
[[nodiscard]] int gpus_seen();
/// cudaMemcpyPeer from the first GPU to the second one.
[[nodiscard]] double peer_copy_gb_per_s(std::size_t bytes);

}  // namespace gpu_benchmark
