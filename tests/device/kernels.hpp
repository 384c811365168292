// Ordinary functions that launch kernels of their own on ham::cuda::stream(): for nvcc (kernels.cu), and for the host's
// compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/offload/buffer_ptr.hpp"

namespace launched_kernels {

/// Multiplies each of `n` values and waits for the kernel. Gives the stream that it ran on. Throws std::runtime_error
/// with CUDA's words.
std::uint64_t scale(ham::offload::buffer_ptr<float> x, std::size_t n, float factor);

/// Allocates and frees memory of the GPU. The same.
void allocate(std::size_t bytes);

}  // namespace launched_kernels
