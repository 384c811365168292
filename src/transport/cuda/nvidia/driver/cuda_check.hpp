// What CUDA answers, as errors of HAM's.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "ham/error.hpp"
#include "transport/cuda/nvidia/cuda_errors.hpp"

namespace ham::inline v1::transport::cuda {

/// The GPU of this process: the first that it sees (visible_gpus.hpp).
inline constexpr int own_gpu = 0;

[[nodiscard]] inline std::string describe(cudaError_t error) {
  return describe_cuda_error(error, cudaGetErrorString(error));
}

/// Throws ham::config_error unless it went well. `what` was asked for.
inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // the next call is not to be blamed for it
  throw config_error(std::string(what) + ": " + describe(result));
}

}  // namespace ham::transport::cuda
