// A GPU of NVIDIA's as a device of this process.
#pragma once

#include <memory>

#include "transport/cuda/driver_module.hpp"

namespace ham::inline v1::transport::cuda {

/// The first GPU that this process sees. Throws ham::config_error.
[[nodiscard]] std::unique_ptr<device_driver> make_cuda_device(kernel_size size, gpu_program program);

}  // namespace ham::transport::cuda
