// Copies on a stream of their own, beside the resident kernel. No device has run it.
#include "transport/cuda/driver/cuda_memory.hpp"

#include <array>
#include <cstdint>
#include <string>

#include "transport/cuda/driver/cuda_check.hpp"

namespace ham::inline v0::transport::cuda {
namespace {

constexpr std::size_t staging_bytes = std::size_t{8} << 20;
constexpr std::size_t arena_granularity = std::size_t{2} << 20;

void* address_in(std::uint64_t device) noexcept { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(device)); }

class cuda_memory final : public device_memory {
 public:
  explicit cuda_memory(std::size_t bytes) {
    check(cudaSetDevice(own_gpu), "the GPU");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    for (cudaEvent_t& one : events_) check(cudaEventCreateWithFlags(&one, cudaEventDisableTiming), "an event");
    void* staging = nullptr;
    check(cudaHostAlloc(&staging, staging_bytes, cudaHostAllocPortable), "pinned memory of the host");
    staging_ = static_cast<std::byte*>(staging);
    bytes_ = bytes != 0 ? bytes : share_of_free();
    void* arena = nullptr;
    check(cudaMalloc(&arena, bytes_),
          (std::to_string(bytes_ >> 20) + " MiB of the GPU's memory (arena in HAM_NODES)").c_str());
    arena_ = reinterpret_cast<std::uintptr_t>(arena);
  }
  /// The process owns the device and ends with it: to free its memory would wait for the resident kernel.
  ~cuda_memory() override = default;

  [[nodiscard]] block arena() const noexcept override { return {arena_, bytes_}; }
  [[nodiscard]] std::span<std::byte> staging() noexcept override { return {staging_, staging_bytes}; }

  [[nodiscard]] bool lock_pages(std::span<std::byte> memory) noexcept override {
    const bool locked = cudaSetDevice(own_gpu) == cudaSuccess &&
                        cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterPortable) == cudaSuccess;
    if (!locked) static_cast<void>(cudaGetLastError());  // the next call is not to be blamed for it
    return locked;
  }

  std::uint64_t start(const device_copy& what) noexcept override {
    const bool in = what.which == device_copy::direction::to_device;
    void* const there = address_in(what.device);
    const cudaMemcpyKind kind = in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    void* const to = in ? there : what.host;
    const void* const from = in ? what.host : there;
    use_device();
    if (what.rows == 1) return begun(cudaMemcpyAsync(to, from, what.row_bytes, kind, stream_));
    const std::size_t to_pitch = in ? what.pitch : what.row_bytes;
    const std::size_t from_pitch = in ? what.row_bytes : what.pitch;
    return begun(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, what.row_bytes, what.rows, kind, stream_));
  }
  std::uint64_t start_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) noexcept override {
    use_device();
    return begun(cudaMemcpyAsync(address_in(to), address_in(from), bytes, cudaMemcpyDeviceToDevice, stream_));
  }
  std::uint64_t start_fill(std::uint64_t to, std::byte value, std::size_t bytes) noexcept override {
    use_device();
    return begun(cudaMemsetAsync(address_in(to), std::to_integer<int>(value), bytes, stream_));
  }

  [[nodiscard]] std::uint64_t finished() noexcept override {
    if (failed_ != cudaSuccess) return finished_;
    while (finished_ != marked_ && is_over(cudaEventQuery(events_[finished_ % events_.size()]))) ++finished_;
    // Those that found no event: all that was begun is over, or nothing is known of them.
    if (finished_ == marked_ && marked_ != started_ && is_over(cudaStreamQuery(stream_)))
      finished_ = marked_ = started_;
    return finished_;
  }
  [[nodiscard]] std::string failure() const override {
    return failed_ == cudaSuccess ? std::string() : describe(failed_);
  }

 private:
  static std::size_t share_of_free() {
    std::size_t free = 0;
    std::size_t all = 0;
    check(cudaMemGetInfo(&free, &all), "how much of it is free");
    const std::size_t bytes = free / 10 * 9 / arena_granularity * arena_granularity;
    if (bytes == 0) throw config_error("the GPU has no memory left (others use it); look at nvidia-smi");
    return bytes;
  }
  /// Of the calling thread, which may be any.
  void use_device() noexcept { note(cudaSetDevice(own_gpu)); }
  void note(cudaError_t result) noexcept {
    if (result != cudaSuccess && failed_ == cudaSuccess) failed_ = result;
  }
  /// An event behind it says when it is over.
  std::uint64_t begun(cudaError_t result) noexcept {
    note(result);
    if (marked_ == started_ && started_ - finished_ < events_.size()) {
      note(cudaEventRecord(events_[started_ % events_.size()], stream_));
      ++marked_;
    }
    return ++started_;
  }
  [[nodiscard]] bool is_over(cudaError_t now) noexcept {
    if (now == cudaSuccess) return true;
    if (now != cudaErrorNotReady) note(now);
    return false;
  }

  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 64> events_{};
  std::byte* staging_ = nullptr;
  std::uint64_t arena_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t marked_ = 0;  // the first of them that have an event
  std::uint64_t finished_ = 0;
  cudaError_t failed_ = cudaSuccess;
};

}  // namespace

std::unique_ptr<device_memory> make_cuda_memory(std::size_t bytes) { return std::make_unique<cuda_memory>(bytes); }

}  // namespace ham::transport::cuda
