// Where a device function runs: by how many threads, which of them is the calling one, whether it is to stop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/outbox.hpp"

namespace ham::inline v1::device {

/// Who executes a call of a device function together. What the thread of rank 0 returns is the result.
enum class scope : std::uint8_t {
  thread,  ///< one thread
  warp,    ///< the threads of one warp
  block,   ///< those of one block
  grid,    ///< all threads of the resident kernel
};

namespace detail {

/// One thread of a device, as functions that it executes see it. Emulated devices implement it with threads of the
/// host; in device code there are the hardware's registers in its place.
class lane {
 public:
  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Waits for the other threads that execute the same call.
  virtual void sync() = 0;
  [[nodiscard]] virtual bool stop_requested() noexcept = 0;
  /// A fault of the device. Does not return.
  [[noreturn]] virtual void trap(const char* why) = 0;
  /// Sends a message to the process of the device, and gives its ticket (outbox.hpp); waits while the queue is full.
  virtual std::uint64_t post(const message_head& head, const std::byte* bytes) = 0;
  /// A slot for the answer to a message; waits for one. no_answer: there is none, and the call is to stop.
  [[nodiscard]] virtual std::uint32_t claim_answer() = 0;
  /// Of the message with that ticket.
  [[nodiscard]] virtual answer_status take_answer(std::uint32_t slot, std::uint64_t ticket, std::byte* value,
                                                  std::size_t size) = 0;
  /// Nobody awaits the answer in that slot any more.
  virtual void drop_answer(std::uint32_t slot) noexcept = 0;
  /// Passes some time. False: the call is to stop; that is asked now and then.
  [[nodiscard]] virtual bool pause() = 0;

 protected:
  ~lane() = default;
};

/// The one that the calling thread of the host is; nullptr: none.
[[nodiscard]] lane*& this_lane() noexcept;
/// Whether the call that the calling thread of a processor executes is to stop.
[[nodiscard]] bool stop_requested_of_processor() noexcept;

#if defined(__CUDACC__)
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
#endif

}  // namespace detail

/// Of the threads that execute the call of the calling thread: its number, from 0, and how many they are. On a node
/// that is no accelerator: 0 and 1.
[[nodiscard]] HAM_DEVICE inline std::uint32_t rank() noexcept {
#if HAM_DEVICE_CODE
  switch (detail::this_call().runs_on) {
    case scope::thread: return 0;
    case scope::warp:
    case scope::block: return threadIdx.x;
    case scope::grid: break;
  }
  return blockIdx.x * blockDim.x + threadIdx.x;
#else
  const detail::lane* const here = detail::this_lane();
  return here == nullptr ? 0 : here->rank();
#endif
}

[[nodiscard]] HAM_DEVICE inline std::uint32_t size() noexcept {
#if HAM_DEVICE_CODE
  switch (detail::this_call().runs_on) {
    case scope::thread: return 1;
    case scope::warp: return warpSize < blockDim.x ? warpSize : blockDim.x;
    case scope::block: return blockDim.x;
    case scope::grid: break;
  }
  return gridDim.x * blockDim.x;
#else
  const detail::lane* const here = detail::this_lane();
  return here == nullptr ? 1 : here->size();
#endif
}

/// Waits until all threads that execute the call are here, and sees what they have written. All of them call it equally
/// often, or none.
HAM_DEVICE inline void sync() {
#if HAM_DEVICE_CODE
  switch (detail::this_call().runs_on) {
    case scope::thread: return;
    case scope::warp: __syncwarp(); return;
    case scope::block: __syncthreads(); return;
    case scope::grid: break;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    auto* const word = reinterpret_cast<unsigned long long*>(detail::this_call().arrived);
    const unsigned long long mine = atomicAdd(word, 1ULL);
    const unsigned long long all = (mine / gridDim.x + 1) * gridDim.x;
    while (detail::acquire(*detail::this_call().arrived) < all) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
#else
  if (detail::lane* const here = detail::this_lane()) here->sync();
#endif
}

/// Whether the caller wants the function to stop: its future, its token or its deadline says so. Once true it stays
/// true for the call. On a GPU it costs one access over the link, so a function asks now and then, not for every
/// element. On a node that is no accelerator it is what this_call::stop_token() says.
[[nodiscard]] HAM_DEVICE inline bool stop_requested() noexcept {
#if HAM_DEVICE_CODE
  detail::send_kept_replies();
  return detail::acquire(*detail::this_call().stop) == detail::this_call().stamp;
#else
  detail::lane* const here = detail::this_lane();
  return here != nullptr ? here->stop_requested() : detail::stop_requested_of_processor();
#endif
}

/// Ends the target process as a fault of the device does: its callers get ham::node_failure with the function's name.
/// On a node that is no accelerator: ends the process by abort().
[[noreturn]] HAM_DEVICE inline void trap([[maybe_unused]] const char* why = "the function has called trap()") {
#if HAM_DEVICE_CODE
  detail::note_trap(why);
  __trap();
  for (;;) {
  }
#else
  if (detail::lane* const here = detail::this_lane()) here->trap(why);
  __builtin_abort();
#endif
}

}  // namespace ham::device
