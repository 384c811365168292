// The resident kernel as a compiler for devices makes it: compiled with the application, because a kernel calls only
// functions that were linked with it. Internal. For other compilers there is nothing in here.
#pragma once

#include "ham/device/device_code.hpp"
#include "ham/device/loop.hpp"

namespace ham::inline v1::device::detail {

#if defined(__CUDACC__)

/// Memory of the host, mapped into the device. A line is read in two steps, first its stamp: hardware promises no order
/// within one access of 64 bytes. Whether the leading warp may read it at once is to be tried on a device.
class hardware_link {
 public:
  __device__ bool read_line(const std::byte* from, std::uint64_t stamp, std::byte* to) const noexcept {
    const auto* const words = reinterpret_cast<const std::uint64_t*>(from);
    auto* const copy = reinterpret_cast<std::uint64_t*>(to);
    copy[0] = acquire(words[0]);
    if (copy[0] != stamp) return false;
    for (std::size_t at = 1; at < line_bytes / sizeof(std::uint64_t); ++at)
      copy[at] = *static_cast<const volatile std::uint64_t*>(&words[at]);
    return true;
  }
  __device__ std::uint64_t read_word(const std::uint64_t& from) const noexcept { return acquire(from); }
  __device__ void read_block(const std::byte* from, std::byte* to, std::size_t size) const noexcept {
    copy_words(from, to, size);
  }
  __device__ void write_block(std::byte* to, const std::byte* from, std::size_t size) const noexcept {
    copy_words(from, to, size);
  }
  __device__ void note_word(std::uint64_t& to, std::uint64_t word) const noexcept {
    *static_cast<volatile std::uint64_t*>(&to) = word;
  }
  __device__ void write_word(std::uint64_t& to, std::uint64_t word) const noexcept { release(to, word); }
  __device__ std::int64_t arrival_ns() const noexcept { return 0; }

 private:
  /// A word crosses the link as fast as a byte.
  __device__ static void copy_words(const std::byte* from, std::byte* to, std::size_t size) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    std::size_t done = 0;
    if ((reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % word == 0) {
      for (; done + word <= size; done += word)
        *reinterpret_cast<volatile std::uint64_t*>(to + done) =
            *reinterpret_cast<const volatile std::uint64_t*>(from + done);
    }
    for (; done < size; ++done)
      *reinterpret_cast<volatile unsigned char*>(to + done) =
          *reinterpret_cast<const volatile unsigned char*>(from + done);
  }
};

/// A Unit of resident_loop: one thread of the hardware.
class hardware_thread {
 public:
  /// `arrived`: the barrier of the grid, in memory of the device, zero at first.
  __device__ hardware_thread(const loop_parameters& with, std::uint64_t* arrived) noexcept
      : messages_(with.messages), sent_(with.sent), arrived_(arrived) {}

  __device__ std::uint32_t block() const noexcept { return blockIdx.x; }
  __device__ bool leads_block() const noexcept { return threadIdx.x == 0; }
  __device__ bool in_first_warp() const noexcept { return threadIdx.x < static_cast<unsigned>(warpSize); }
  __device__ void sync_block() const noexcept { __syncthreads(); }
  __device__ hardware_link& link() noexcept { return link_; }
  __device__ void idle() noexcept {
    __nanosleep(pause_ns_);
    if (pause_ns_ < max_pause_ns) pause_ns_ *= 2;
  }
  __device__ void worked() noexcept { pause_ns_ = min_pause_ns; }
  /// Each thread of the call writes the same.
  __device__ void begin(const table_row& row, const std::uint64_t& stop, std::uint64_t stamp) noexcept {
    this_call() = {row.runs_on, &stop, stamp, arrived_, messages_, sent_};
  }
  __device__ void run(const table_row& row, execution& call) noexcept { row.body(call); }

 private:
  static constexpr unsigned min_pause_ns = 20;
  static constexpr unsigned max_pause_ns = 1000;
  outbox* messages_;
  outbox_state* sent_;
  std::uint64_t* arrived_;
  unsigned pause_ns_ = min_pause_ns;
  hardware_link link_;
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
inline const bool device_code_enlisted = enlist_device_code(own_device_code);

#endif

}  // namespace ham::device::detail
