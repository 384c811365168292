// Memory of a GPU of NVIDIA's, as what a node allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/device_memory.hpp"

namespace ham::inline v1::transport::cuda {

/// Takes `bytes` of the first GPU that this process sees, or (0) the arena_share() of one of `nodes_on_gpu`, and memory
/// of the host to stage in: all of it before the resident kernel is first launched (make_cuda_device), because nothing
/// may be allocated while that runs. Throws ham::config_error.
[[nodiscard]] std::unique_ptr<device_memory> make_cuda_memory(std::size_t bytes, std::uint32_t nodes_on_gpu);

}  // namespace ham::transport::cuda
