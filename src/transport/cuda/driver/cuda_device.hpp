// A GPU of NVIDIA's as a device of this process.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/device.hpp"

namespace ham::inline v0::transport::cuda {

/// What of a GPU the resident kernel takes.
struct kernel_size {
  std::uint32_t blocks = 0;  ///< 0: 4, or as many as fit; more than fit at once are never launched
  std::uint32_t threads = 128;
};

/// The GPU of that number. The process uses no other one from then on. Throws ham::config_error.
[[nodiscard]] std::unique_ptr<device_driver> make_cuda_device(int number, kernel_size size);

}  // namespace ham::transport::cuda
