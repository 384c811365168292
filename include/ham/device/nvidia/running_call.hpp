// The call that a block of an NVIDIA GPU executes, for the functions of ham/device/place.hpp, which includes this.
// Internal. For other compilers than nvcc there is nothing in here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/place.hpp"

#if defined(__CUDACC__)

namespace ham::inline v1::device::detail {

/// The call that the threads of this block execute.
struct running_call {
  scope runs_on;
  const std::uint64_t* stop;  // of the host
  std::uint64_t stamp;
  std::uint64_t* arrived;  // of grid_size() threads' barrier, in memory of the device
  outbox* messages;        // of the block, of the host
  outbox_state* sent;      // of the block
  call_queue* queue;       // of the host
  std::uint64_t mark;      // running_mark, in the resident kernel and nowhere else
  kept_replies* kept;      // of the block
};
inline constexpr std::uint64_t running_mark = 0x68616d2063616c6c;
__device__ inline running_call& this_call() {
  __shared__ running_call here;
  return here;
}
/// The way of replies that are written while a function runs.
struct reply_link {
  __device__ void order_pairs() const noexcept { detail::order_pairs(); }
  __device__ void store_pair(std::uint64_t* to, const word_pair& words) const noexcept {
    detail::store_pair(to, words);
  }
  __device__ std::int64_t arrival_ns() const noexcept { return 0; }
};
/// Before a function waits for the host, which may wait for the replies to earlier calls: those that are kept. There
/// are none while several threads execute a call.
__device__ inline void send_kept_replies() noexcept {
  const running_call& here = this_call();
  if (here.kept->count != 0) send_kept(reply_link{}, *here.queue, *here.kept);
}
/// Tells the host at once: CUDA takes up to 600 ms to say that a kernel has failed, and does not say why.
__device__ inline void note_trap(const char* why) {
  if (this_call().mark != running_mark) return;
  send_kept_replies();
  call_queue& queue = *this_call().queue;
  constexpr std::size_t room = sizeof queue.trap_reason;
  std::size_t at = 0;
  for (; why != nullptr && at + 1 < room && why[at] != 0; ++at)
    *static_cast<volatile char*>(&queue.trap_reason[at]) = why[at];
  *static_cast<volatile char*>(&queue.trap_reason[at]) = 0;
  release(queue.trapped, this_call().stamp);
}

__device__ inline std::uint32_t rank_in_call() noexcept {
  switch (this_call().runs_on) {
    case scope::thread: return 0;
    case scope::warp:
    case scope::block: return threadIdx.x;
    case scope::grid: break;
  }
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline std::uint32_t size_of_call() noexcept {
  switch (this_call().runs_on) {
    case scope::thread: return 1;
    case scope::warp: return warpSize < blockDim.x ? warpSize : blockDim.x;
    case scope::block: return blockDim.x;
    case scope::grid: break;
  }
  return gridDim.x * blockDim.x;
}

__device__ inline void sync_call() {
  switch (this_call().runs_on) {
    case scope::thread: return;
    case scope::warp: __syncwarp(); return;
    case scope::block: __syncthreads(); return;
    case scope::grid: break;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    auto* const word = reinterpret_cast<unsigned long long*>(this_call().arrived);
    const unsigned long long mine = atomicAdd(word, 1ULL);
    const unsigned long long all = (mine / gridDim.x + 1) * gridDim.x;
    while (acquire(*this_call().arrived) < all) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
}

/// Costs one access over the link.
__device__ inline bool call_is_to_stop() noexcept {
  send_kept_replies();
  return acquire(*this_call().stop) == this_call().stamp;
}

[[noreturn]] __device__ inline void trap_device(const char* why) {
  note_trap(why);
  __trap();
  for (;;) {
  }
}

}  // namespace ham::device::detail

#endif
