// ham::cuda::stream().
#include <mutex>

#include "core/thread_state.hpp"
#include "ham/cuda.hpp"
#include "ham/error.hpp"
#include "runtime/device_calls.hpp"

namespace ham::inline v1::cuda {

CUstream_st* stream() {
  const std::lock_guard guard(detail::device_calls::end_mutex());  // threads of contexts may outlive the device
  const detail::device_calls* const here = detail::device_calls::of(detail::current_or_null());
  void* const found = here == nullptr ? nullptr : here->stream_here();
  if (found == nullptr) {
    throw call_error(
        "there is no stream of CUDA's here (the calling thread executes no function of a node with a GPU); call "
        "ham::cuda::stream() in a function that runs on a node of HAM_NODES=cuda");
  }
  return static_cast<CUstream_st*>(found);
}

}  // namespace ham::cuda
