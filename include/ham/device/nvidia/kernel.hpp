// The resident kernel for NVIDIA's GPUs: compiled with the application, because a kernel calls only functions that were
// linked with it. Internal. For other compilers than nvcc there is nothing in here.
#pragma once

#include "ham/device/device_code.hpp"
#include "ham/device/loop.hpp"

namespace ham::inline v1::device::detail {

#if defined(__CUDACC__)

/// Memory of the host, mapped into the device. What is read behind an ordered access may come from a cache, all of it
/// at once; ordered accesses go over the link one after the other.
class hardware_link {
 public:
  __device__ word_pair read_pair(const std::uint64_t* words) const noexcept { return acquire_pair(words); }
  __device__ std::uint64_t read_word(const std::uint64_t& from) const noexcept { return acquire(from); }
  __device__ void read_block(const std::byte* from, std::byte* to, std::size_t size) const noexcept {
    constexpr std::size_t at_once = 16;
    const auto* const source = reinterpret_cast<const std::uint64_t*>(from);
    auto* const target = reinterpret_cast<std::uint64_t*>(to);
    const std::size_t words = (size + sizeof *source - 1) / sizeof *source;
    for (std::size_t begin = 0; begin < words; begin += at_once) {
      std::uint64_t some[at_once];
#pragma unroll
      for (std::size_t at = 0; at < at_once; ++at) some[at] = begin + at < words ? source[begin + at] : 0;
#pragma unroll
      for (std::size_t at = 0; at < at_once; ++at)
        if (begin + at < words) target[begin + at] = some[at];
    }
  }
  /// A word crosses the link as fast as a byte.
  __device__ void write_block(std::byte* to, const std::byte* from, std::size_t size) const noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    std::size_t done = 0;
    if ((reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % word == 0) {
      for (; done + word <= size; done += word)
        *reinterpret_cast<volatile std::uint64_t*>(to + done) = *reinterpret_cast<const std::uint64_t*>(from + done);
    }
    for (; done < size; ++done)
      *reinterpret_cast<volatile unsigned char*>(to + done) = *reinterpret_cast<const unsigned char*>(from + done);
  }
  __device__ void write_word(std::uint64_t& to, std::uint64_t word) const noexcept { release(to, word); }
  __device__ void note_word(std::uint64_t& to, std::uint64_t word) const noexcept { note(to, word); }
  __device__ void order_pairs() const noexcept { detail::order_pairs(); }
  __device__ void store_pair(std::uint64_t* to, const word_pair& words) const noexcept {
    detail::store_pair(to, words);
  }
  __device__ void write_pair(std::uint64_t* to, const word_pair& words) const noexcept {
    detail::write_pair(to, words);
  }
  __device__ std::int64_t arrival_ns() const noexcept { return 0; }
};

/// A Unit of resident_loop: one thread of the hardware.
class hardware_thread {
 public:
  /// `arrived`: the barrier of the grid, in memory of the device, zero at first.
  __device__ hardware_thread(const loop_parameters& with, std::uint64_t* arrived) noexcept
      : queue_(&with.queues[blockIdx.x]), messages_(&with.messages[blockIdx.x]), arrived_(arrived) {}

  __device__ std::uint32_t block() const noexcept { return blockIdx.x; }
  __device__ bool leads_block() const noexcept { return threadIdx.x == 0; }
  __device__ bool in_first_warp() const noexcept { return threadIdx.x < static_cast<unsigned>(warpSize); }
  __device__ void sync_block() const noexcept { __syncthreads(); }

  /// In the memory that the threads of a block share: the nearest one.
  __device__ block_state& enter(const loop_parameters& with) noexcept {
    __shared__ block_state here;
    if (leads_block()) {
      here.position = with.blocks[block()].position;
      here.sent = with.blocks[block()].sent;
    }
    sent_ = &here.sent;
    return here;
  }
  __device__ void leave(const loop_parameters& with, const block_state& own) const noexcept {
    with.blocks[block()].position = own.position;
    with.blocks[block()].sent = own.sent;
  }
  /// The table does not change while the kernel is resident.
  __device__ const table_row& row(const loop_parameters& with, std::uint32_t number) noexcept {
    if (number == known_) return row_;
    constexpr std::size_t words = sizeof(table_row) / sizeof(unsigned long long);
    static_assert(sizeof(table_row) == words * sizeof(unsigned long long));
    const auto* const from = reinterpret_cast<const unsigned long long*>(&with.table[number]);
    auto* const to = reinterpret_cast<unsigned long long*>(&row_);
#pragma unroll
    for (std::size_t at = 0; at < words; ++at) to[at] = __ldg(&from[at]);
    known_ = number;
    return row_;
  }

  __device__ hardware_link& link() noexcept { return link_; }
  __device__ bool polls() const noexcept { return in_first_warp(); }
  /// One instruction of the first warp, which is meant to be one way over the link and back.
  __device__ void poll(call_queue& queue, block_state& own) const noexcept {
    if (threadIdx.x < queue_slots) own.seen[threadIdx.x] = acquire_pair(&queue.headers[threadIdx.x].what);
    __syncwarp();
  }
  __device__ bool agree(bool found) const noexcept {
    __syncwarp();
    return __shfl_sync(0xffffffff, found ? 1 : 0, 0) != 0;
  }
  __device__ long long now() const noexcept { return clock64(); }
  __device__ long long max_age() const noexcept { return 10'000; }  // cycles of a processor of the GPU, some us
  __device__ void idle() noexcept {
    __nanosleep(pause_ns_);
    if (++idle_ >= quick_polls && pause_ns_ < max_pause_ns) pause_ns_ *= 2;
  }
  __device__ void worked() noexcept {
    pause_ns_ = min_pause_ns;
    idle_ = 0;
    asked_at_ = clock64();
  }
  __device__ bool asks_for_stop() noexcept {
    const long long now = clock64();
    if (static_cast<std::uint64_t>(now - asked_at_) < asking_interval) return false;  // also not if it is behind
    asked_at_ = now;
    return true;
  }
  /// Each thread of the call writes the same.
  __device__ void begin(const table_row& row, const std::uint64_t& stop, std::uint64_t stamp,
                        kept_replies& kept) noexcept {
    this_call() = {row.runs_on, &stop, stamp, arrived_, messages_, sent_, queue_, running_mark, &kept};
  }
  __device__ void run(const table_row& row, execution& call) noexcept { row.body(call); }

 private:
  static constexpr unsigned quick_polls = 2000;  // a poll takes more than 1 us
  static constexpr unsigned min_pause_ns = 20;
  static constexpr unsigned max_pause_ns = 1000;
  static constexpr std::uint64_t asking_interval =
      20'000;  // cycles of a processor of the GPU: ten accesses over the link
  call_queue* queue_;
  outbox* messages_;
  outbox_state* sent_ = nullptr;  // of the block
  std::uint64_t* arrived_;
  unsigned pause_ns_ = min_pause_ns;
  unsigned idle_ = 0;
  long long asked_at_ = 0;
  hardware_link link_;
  std::uint32_t known_ = leave_function;  // the number of the function that row_ is about
  table_row row_{};
};

/// A template, so that sources which include this make one kernel of one program.
template <int Version = 0>
__global__ void resident_kernel(loop_parameters with, std::uint64_t* arrived) {
  hardware_thread unit(with, arrived);
  resident_loop(with, unit);
}

inline int count_blocks(const void* kernel, int threads, int& blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
}
inline int read_variable(const void* symbol, void* to, std::size_t size) {
  return cudaMemcpyFromSymbol(to, symbol, size);
}
inline int write_variable(const void* symbol, const void* from, std::size_t size) {
  return cudaMemcpyToSymbol(symbol, from, size);
}
inline int launch_kernel(const void* kernel, unsigned blocks, unsigned threads, void** arguments, void* stream) {
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, static_cast<cudaStream_t>(stream));
}
inline const device_code own_device_code{reinterpret_cast<const void*>(&resident_kernel<>), &count_blocks,
                                         &read_variable, &write_variable, &launch_kernel};
inline const bool device_code_enlisted = enlist_device_code(own_device_code, queue_layout);

#endif

}  // namespace ham::device::detail
