// What this process finds of GPUs, and what one is.
#pragma once

#include "transport/device.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::transport::cuda {

/// Whether there are GPUs, why not and what to do. Does not throw but for lack of memory.
[[nodiscard]] availability find_gpus();
/// One of those that this process sees. Throws ham::config_error, also if there is none.
[[nodiscard]] device_description describe_gpu(int number);

}  // namespace ham::transport::cuda
