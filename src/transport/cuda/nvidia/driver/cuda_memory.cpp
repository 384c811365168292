// Copies on a stream of their own, beside the resident kernel.
#include "transport/cuda/nvidia/driver/cuda_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "transport/cuda/geometry.hpp"
#include "transport/cuda/nvidia/driver/cuda_check.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

constexpr std::size_t staging_bytes = std::size_t{8} << 20;

constexpr std::uint32_t cuda_kind = 0x63756461;  // "cuda"

struct cuda_handle {
  std::uint32_t kind;
  std::uint32_t unused;
  std::uint64_t bytes;
  cudaIpcMemHandle_t memory;
};

void* address_in(std::uint64_t device) noexcept { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(device)); }

/// What CUDA knows of the allocation at an address, not what another process says of it: so many bytes, or 0.
std::uint64_t bytes_mapped_at(std::uint64_t device) noexcept {
  using get_range = int (*)(unsigned long long* begin, std::size_t* bytes, unsigned long long inside);  // of cuda.h
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &found, 12000, cudaEnableDefault, &status);
#else
  const cudaError_t result = cudaGetDriverEntryPoint("cuMemGetAddressRange", &found, cudaEnableDefault, &status);
#endif
  if (result != cudaSuccess || status != cudaDriverEntryPointSuccess || found == nullptr) return 0;
  unsigned long long begin = 0;
  std::size_t bytes = 0;
  const bool known = reinterpret_cast<get_range>(found)(&begin, &bytes, device) == 0;
  return known && begin == device ? bytes : 0;
}

/// Its end gives the mapping back, which may wait for kernels.
class cuda_peer_arena final : public peer_arena {
 public:
  using peer_arena::peer_arena;
  ~cuda_peer_arena() override {
    if (cudaSetDevice(own_gpu) != cudaSuccess || cudaIpcCloseMemHandle(address_in(address())) != cudaSuccess)
      static_cast<void>(cudaGetLastError());
  }
};

class cuda_memory final : public device_memory {
 public:
  cuda_memory(std::size_t bytes, std::uint32_t nodes_on_gpu) {
    check(cudaSetDevice(own_gpu), "the GPU");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    for (cudaEvent_t& one : events_) check(cudaEventCreateWithFlags(&one, cudaEventDisableTiming), "an event");
    void* staging = nullptr;
    check(cudaHostAlloc(&staging, staging_bytes, cudaHostAllocPortable), "pinned memory of the host");
    staging_ = static_cast<std::byte*>(staging);
    bytes_ = bytes != 0 ? bytes : share(nodes_on_gpu);
    void* arena = nullptr;
    check(cudaMalloc(&arena, bytes_),
          (std::to_string(bytes_ >> 20) + " MiB of the GPU's memory (arena in HAM_NODES)").c_str());
    arena_ = reinterpret_cast<std::uintptr_t>(arena);
    cuda_handle handle{cuda_kind, 0, bytes_, {}};
    if (cudaIpcGetMemHandle(&handle.memory, arena) == cudaSuccess)
      exported_ = arena_handle::of(handle);
    else
      static_cast<void>(cudaGetLastError());  // a system without it: bytes go through the processes
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

  [[nodiscard]] arena_handle export_arena() const noexcept override { return exported_; }
  /// Also of a GPU that this process does not see.
  [[nodiscard]] std::unique_ptr<peer_arena> open_peer(const arena_handle& of) noexcept override {
    cuda_handle named;
    if (!of.read(named) || named.kind != cuda_kind) return nullptr;
    void* got = nullptr;
    if (cudaSetDevice(own_gpu) != cudaSuccess ||
        cudaIpcOpenMemHandle(&got, named.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(got));
    const std::uint64_t mapped = bytes_mapped_at(address);
    std::unique_ptr<peer_arena> result(new (std::nothrow) cuda_peer_arena(address, std::min(named.bytes, mapped)));
    if (result == nullptr) static_cast<void>(cudaIpcCloseMemHandle(got));
    return result != nullptr && result->bytes() != 0 ? std::move(result) : nullptr;
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
  /// CUDA knows by the addresses on which GPUs they lie.
  std::uint64_t start_from_peer(const peer_copy& what) noexcept override {
    void* const to = address_in(what.to);
    const void* const from = address_in(what.from);
    use_device();
    if (what.rows == 1) return begun(cudaMemcpyAsync(to, from, what.row_bytes, cudaMemcpyDefault, stream_));
    return begun(cudaMemcpy2DAsync(to, what.to_pitch, from, what.from_pitch, what.row_bytes, what.rows,
                                   cudaMemcpyDefault, stream_));
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
  static std::size_t share(std::uint32_t nodes_on_gpu) {
    std::size_t free = 0;
    std::size_t all = 0;
    check(cudaMemGetInfo(&free, &all), "how much of it is free");
    const std::size_t bytes = arena_share(free, all, nodes_on_gpu);
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
  arena_handle exported_;
  std::uint64_t started_ = 0;
  std::uint64_t marked_ = 0;  // the first of them that have an event
  std::uint64_t finished_ = 0;
  cudaError_t failed_ = cudaSuccess;
};

}  // namespace

std::unique_ptr<device_memory> make_cuda_memory(std::size_t bytes, std::uint32_t nodes_on_gpu) {
  return std::make_unique<cuda_memory>(bytes, nodes_on_gpu);
}

}  // namespace ham::transport::cuda
