// The driver of GPUs of NVIDIA's. No device has run it; it is compiled for sm_80 and sm_90 (scripts/check-cuda.sh).
#include "transport/cuda/driver/cuda_device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "ham/device/kernel.hpp"
#include "ham/device/offloading.hpp"
#include "ham/error.hpp"

namespace ham::inline v0::transport::cuda {
namespace {

namespace wire = device::detail;

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  throw config_error(std::string("the GPU cannot be used (") + what + ": " + cudaGetErrorString(result) +
                     "); look at nvidia-smi, and at CUDA_VISIBLE_DEVICES");
}

/// Memory of the host that the device reaches at the same address, zero at first.
template <class Value>
Value* make_shared_memory(std::size_t count) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, count * sizeof(Value), cudaHostAllocMapped | cudaHostAllocPortable), "pinned memory");
  std::memset(memory, 0, count * sizeof(Value));
  return static_cast<Value*>(memory);
}

/// Memory of the device, zero at first.
template <class Value>
Value* make_device_memory(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(Value)), "memory of the device");
  check(cudaMemset(memory, 0, count * sizeof(Value)), "memory of the device");
  return static_cast<Value*>(memory);
}

/// First fit in memory that was taken before the kernel began: while it is resident, nothing may be allocated.
class staging_area {
 public:
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  explicit staging_area(std::byte* memory) : memory_(memory) { free_.emplace(0, bytes); }

  [[nodiscard]] std::byte* take(std::size_t size) {
    const std::size_t extent = wire::aligned(std::max<std::size_t>(size, 1), wire::line_bytes);
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second < extent) continue;
      const auto [offset, length] = *at;
      free_.erase(at);
      if (length > extent) free_.emplace(offset + extent, length - extent);
      used_.emplace(offset, extent);
      return memory_ + offset;
    }
    throw std::bad_alloc();
  }
  void give(const std::byte* at) noexcept {
    const auto used = used_.find(static_cast<std::size_t>(at - memory_));
    if (used == used_.end()) return;
    auto [offset, length] = *used;
    used_.erase(used);
    auto next = free_.upper_bound(offset);
    if (next != free_.end() && next->first == offset + length) {
      length += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset)
      std::prev(next)->second += length;
    else
      free_.emplace(offset, length);
  }

 private:
  std::byte* memory_;
  std::map<std::size_t, std::size_t> free_, used_;  // offset -> length
};

class cuda_device final : public device_driver {
 public:
  cuda_device(int number, kernel_size size) : threads_(size.threads), kernel_(wire::resident_kernel_of_process()) {
    if (kernel_ == nullptr) {
      throw config_error(
          "this program has no code for GPUs (no source with ham/device.hpp was compiled by nvcc); compile those that "
          "declare device functions with nvcc");
    }
    check(cudaSetDevice(number), "number of the device");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    blocks_ = fitting_blocks(number, size);
    queues_ = make_shared_memory<wire::call_queue>(blocks_);
    messages_ = make_shared_memory<wire::outbox>(1);
    staged_ = make_shared_memory<std::byte>(staging_area::bytes);
    staging_ = staging_area(staged_);
    states_ = make_device_memory<wire::block_state>(blocks_);
    sent_ = make_device_memory<wire::outbox_state>(1);
    arrived_ = make_device_memory<std::uint64_t>(1);
  }
  /// The process owns the device and ends with it: nothing waits for the kernel here.
  ~cuda_device() override = default;

  [[nodiscard]] const char* type() const noexcept override { return "cuda"; }
  [[nodiscard]] std::span<wire::call_queue> queues() noexcept override { return {queues_, blocks_}; }
  [[nodiscard]] wire::outbox& messages() noexcept override { return *messages_; }
  [[nodiscard]] bool has(const wire::function_entry& function) const noexcept override {
    return function.symbol != nullptr;
  }

  void upload(std::uint32_t count) override {
    std::vector<wire::table_row> rows;
    for (std::uint32_t i = 0; i < count; ++i) {
      const wire::function_entry& one = wire::function_at(i);
      rows.push_back(one.row);
      rows.back().body = nullptr;
      if (one.symbol != nullptr)
        check(cudaMemcpyFromSymbol(&rows.back().body, one.symbol, sizeof rows.back().body), "address of a function");
    }
    check(cudaFree(table_), "table of functions");
    table_ = make_device_memory<wire::table_row>(std::max<std::size_t>(count, 1));
    check(cudaMemcpy(table_, rows.data(), rows.size() * sizeof rows[0], cudaMemcpyHostToDevice), "table of functions");
    functions_ = count;
    for (std::uint32_t i = 0; i < wire::count_number_variables(); ++i) {
      const wire::number_variable one = wire::number_variable_at(i);
      const std::uint32_t number = one.function->number();
      check(cudaMemcpyToSymbol(one.symbol, &number, sizeof number), "number of a function");
    }
  }

  void launch() override {
    wire::loop_parameters with{queues_, states_, table_, functions_, messages_, sent_};
    void* arguments[] = {&with, &arrived_};
    check(cudaLaunchKernel(kernel_, dim3(blocks_), dim3(threads_), arguments, 0, stream_), "launch");
  }

  [[nodiscard]] residency state() noexcept override {
    if (failed_ != cudaSuccess) return residency::failed;
    const cudaError_t now = cudaStreamQuery(stream_);
    if (now == cudaSuccess) return residency::absent;
    if (now == cudaErrorNotReady) return residency::resident;
    failed_ = now;
    return residency::failed;
  }
  [[nodiscard]] failure_report failure() override { return {cudaGetErrorString(failed_), wire::leave_function}; }

  [[nodiscard]] std::uint64_t stage(std::span<const std::byte> bytes) override {
    std::byte* const to = staging_.take(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    return reinterpret_cast<std::uintptr_t>(to);
  }
  void unstage(std::uint64_t address) noexcept override {
    staging_.give(reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address)));
  }

 private:
  /// A block that does not fit would wait for one that never ends.
  std::uint32_t fitting_blocks(int number, kernel_size size) const {
    constexpr std::uint32_t usual = 4;
    int of_one = 0;
    int processors = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, kernel_, static_cast<int>(threads_), 0), "occupancy");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, number), "number of processors");
    const auto fit = static_cast<std::uint32_t>(of_one) * static_cast<std::uint32_t>(processors);
    if (fit == 0 || size.blocks > fit) {
      throw config_error("the GPU has room for " + std::to_string(fit) + " blocks of " + std::to_string(threads_) +
                         " threads at once; ask for no more");
    }
    return size.blocks == 0 ? std::min(usual, fit) : size.blocks;
  }

  const std::uint32_t threads_;
  const void* const kernel_;
  std::uint32_t blocks_ = 0;
  cudaStream_t stream_ = nullptr;
  wire::call_queue* queues_ = nullptr;
  wire::outbox* messages_ = nullptr;
  std::byte* staged_ = nullptr;
  staging_area staging_{nullptr};
  wire::block_state* states_ = nullptr;
  wire::outbox_state* sent_ = nullptr;
  std::uint64_t* arrived_ = nullptr;
  wire::table_row* table_ = nullptr;
  std::uint32_t functions_ = 0;
  cudaError_t failed_ = cudaSuccess;
};

}  // namespace

std::unique_ptr<device_driver> make_cuda_device(int number, kernel_size size) {
  return std::make_unique<cuda_device>(number, size);
}

}  // namespace ham::transport::cuda
