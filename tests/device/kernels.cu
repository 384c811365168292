// Kernels that ordinary functions launch: compiled by scripts/check-cuda.sh, and run by gpu_test.cpp.
#include "kernels.hpp"

#include <stdexcept>

#include "ham/cuda.hpp"

namespace launched_kernels {
namespace {

__global__ void scale_kernel(float* x, std::size_t n, float factor) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

void check(cudaError_t result) {
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

std::uint64_t scale(ham::offload::buffer_ptr<float> x, std::size_t n, float factor) {
  constexpr unsigned threads = 256;
  const cudaStream_t stream = ham::cuda::stream();
  scale_kernel<<<static_cast<unsigned>((n + threads - 1) / threads), threads, 0, stream>>>(x.get(), n, factor);
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream));
  return reinterpret_cast<std::uintptr_t>(stream);
}

void allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  check(cudaFree(memory));
}

}  // namespace launched_kernels
