// Ordinary functions that launch kernels by themselves, in the target process of a GPU. Needs no header of CUDA's.
//
//   void scale(ham::offload::buffer_ptr<float> x, std::size_t n) {     // in a source that nvcc compiles
//     scale_kernel<<<n / 256, 256, 0, ham::cuda::stream()>>>(x.get(), n);
//     cudaStreamSynchronize(ham::cuda::stream());
//   }
#pragma once

#include <utility>

struct CUstream_st;  // *: cudaStream_t, CUstream

namespace ham::inline v1::detail {

class engine;

/// While it lives, the resident kernel is absent, if the node that the calling thread works for has a device.
class device_absence {
 public:
  device_absence();
  device_absence(const device_absence&) = delete;
  device_absence& operator=(const device_absence&) = delete;
  ~device_absence();

 private:
  engine* const node_;  // nullptr: there is no device, or another one of this thread sees to it
};

}  // namespace ham::detail

namespace ham::inline v1::cuda {

/// The stream of the context that executes the calling function. All functions without a context have one of their own,
/// which no context shares. It stays the same as long as the process. Contexts have 16, one after the other in the
/// order in which the node opens them: the 17th has that of the first. It does not wait for the default stream
/// (cudaStreamNonBlocking), nor for the resident kernel. The library's: do not destroy it. Wait for this stream, not
/// for the device: cudaDeviceSynchronize returns only when the resident kernel has left. Any thread that executes a
/// call. Does not block. Throws ham::call_error outside of functions of a node that has a GPU.
[[nodiscard]] CUstream_st* stream();

/// Executes `function` while the resident kernel of the node's device is absent, and gives its result: for cudaMalloc,
/// cudaFree, cudaDeviceSynchronize and whatever else waits for the kernel, which other callers may keep there for ever.
/// Calls of device functions that have begun end first, the kernel leaves, and later ones wait until `function` has
/// returned or thrown: their deadlines and stops count. So nothing that a device function which has begun waits for may
/// need a later call of the device, or the calling thread: not even through functions of the host. In a call without a
/// context that thread is the one for all such calls of the node. `function` waits for nothing through HAM: a thread
/// that waits executes other calls meanwhile, one of which might wait for a device function of this node. Several
/// threads may be in it at once, and it may be nested; calls wait for the last one, however many follow each other.
/// Where the node has no device, `function` is executed at once. Any thread that executes a call. The wait for the
/// kernel ends with a stop or the deadline of that call: ham::operation_cancelled or ham::deadline_exceeded, and
/// `function` is not executed. Throws ham::call_error if the job ends meanwhile, and in continuations and on threads
/// that serve the node.
template <class Function>
decltype(auto) while_absent(Function&& function) {
  const ham::detail::device_absence here;
  return std::forward<Function>(function)();
}

}  // namespace ham::cuda
