// Which GPUs the target process of one sees.
#pragma once

#include <string>
#include <vector>

namespace ham::inline v1::transport::cuda {

/// The value of CUDA_VISIBLE_DEVICES for the target process of the GPU `number` of those that this process sees:
/// that one first, so that it is device 0 for whatever the process calls, and the others behind it, for copies between
/// GPUs. `own`: the value in this process; nullptr: unset. Throws ham::config_error if `own` does not show so many.
[[nodiscard]] std::string visible_gpus(const char* own, int number);

/// What the environment of such a process has in addition to this one's: that, and loading of code before CUDA is first
/// used, because code that is loaded while a kernel is resident waits for the kernel's end.
[[nodiscard]] std::vector<std::string> gpu_environment(const char* own, int number);

}  // namespace ham::transport::cuda
