// Ordinary functions that launch kernels by themselves, in the target process of a GPU. Needs no header of CUDA's.
//
//   void scale(ham::offload::buffer_ptr<float> x, std::size_t n) {     // in a source that nvcc compiles
//     scale_kernel<<<n / 256, 256, 0, ham::cuda::stream()>>>(x.get(), n);
//     cudaStreamSynchronize(ham::cuda::stream());
//   }
#pragma once

struct CUstream_st;  // *: cudaStream_t, CUstream

namespace ham::inline v1::cuda {

/// The stream of the context that executes the calling function. All functions without a context have one of their own,
/// which no context shares. It stays the same as long as the process. Contexts have 16, one after the other in the
/// order in which the node opens them: the 17th has that of the first. It does not wait for the default stream
/// (cudaStreamNonBlocking), nor for the resident kernel. The library's: do not destroy it. Wait for this stream, not
/// for the device: cudaDeviceSynchronize returns only when the resident kernel has left. Any thread that executes a
/// call. Does not block. Throws ham::call_error outside of functions of a node that has a GPU.
[[nodiscard]] CUstream_st* stream();

}  // namespace ham::cuda
