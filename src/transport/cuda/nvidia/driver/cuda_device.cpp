// The driver of GPUs of NVIDIA's. An ordinary source: the kernel is the application's.
#include "transport/cuda/nvidia/driver/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "ham/device/loop.hpp"
#include "transport/cuda/nvidia/driver/cuda_check.hpp"
#include "transport/cuda/nvidia/driver/gpu_probe.hpp"
#include "transport/cuda/staging_area.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

namespace wire = device::detail;

constexpr std::size_t staged_bytes = std::size_t{64} << 20;
constexpr std::size_t stream_count = 16;

/// Memory of the host that the device reaches at the same address, zero at first. Not write-combined: the host reads
/// it.
template <class Value>
Value* make_shared_memory(std::size_t count) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, count * sizeof(Value), cudaHostAllocMapped | cudaHostAllocPortable),
        "memory of the host that the GPU reaches");
  std::memset(memory, 0, count * sizeof(Value));
  return static_cast<Value*>(memory);
}

/// Memory of the device, zero at first.
template <class Value>
Value* make_device_memory(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(Value)), "memory of the GPU");
  check(cudaMemset(memory, 0, count * sizeof(Value)), "memory of the GPU");
  return static_cast<Value*>(memory);
}

/// Until what was written above is there: the kernel's stream does not wait for the default one, on which that happens.
void await_memory() { check(cudaStreamSynchronize(nullptr), "memory of the GPU"); }

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  return stream;
}

/// All that it uses is taken when it is made: nothing is allocated while the kernel is resident.
class cuda_device final : public device_driver {
 public:
  cuda_device(kernel_size size, gpu_program program)
      : threads_(size.threads), program_(program), description_(describe_gpu(own_gpu)) {
    check(cudaSetDevice(own_gpu), "the GPU");
    stream_ = make_stream();
    stream_without_context_ = make_stream();
    for (cudaStream_t& one : streams_) one = make_stream();
    blocks_ = program_.code == nullptr ? 1 : fitting_blocks(size);
    queues_ = make_shared_memory<wire::call_queue>(blocks_);
    messages_ = make_shared_memory<wire::outbox>(blocks_);
    staging_ = staging_area(make_shared_memory<std::byte>(staged_bytes), staged_bytes);
    states_ = make_device_memory<wire::block_state>(blocks_);
    arrived_ = make_device_memory<std::uint64_t>(1);
    await_memory();
  }
  /// The process owns the device and ends with it: nothing waits for the kernel here.
  ~cuda_device() override = default;

  [[nodiscard]] const char* type() const noexcept override { return "cuda"; }
  [[nodiscard]] device_description description() const override { return description_; }
  [[nodiscard]] std::span<wire::call_queue> queues() noexcept override { return {queues_, blocks_}; }
  [[nodiscard]] std::span<wire::outbox> messages() noexcept override { return {messages_, blocks_}; }
  [[nodiscard]] bool has(const wire::function_entry& function) const noexcept override {
    return program_.code != nullptr && function.symbol() != nullptr;
  }

  void upload(std::uint32_t count) override {
    std::vector<wire::table_row> rows;
    for (std::uint32_t i = 0; i < count; ++i) {
      const wire::function_entry& one = program_.function_at(i);
      rows.push_back(one.row);
      rows.back().body = nullptr;
      if (has(one)) check_code(program_.code->read_variable(one.symbol(), &rows.back().body, sizeof rows.back().body));
    }
    write_numbers();
    check(cudaFree(table_), "the table of functions");
    table_ = nullptr;
    if (rows.empty()) return;
    table_ = make_device_memory<wire::table_row>(rows.size());
    check(cudaMemcpy(table_, rows.data(), rows.size() * sizeof rows[0], cudaMemcpyHostToDevice),
          "the table of functions");
    await_memory();
    functions_ = count;
  }

  void launch() override {
    if (program_.code == nullptr) throw config_error("this program has no code for GPUs");
    wire::loop_parameters with{queues_, states_, table_, functions_, messages_};
    std::array<void*, 2> arguments{&with, &arrived_};
    check_code(program_.code->launch(program_.code->kernel, blocks_, threads_, arguments.data(), stream_));
  }

  [[nodiscard]] residency state() noexcept override {
    if (failed_ != cudaSuccess || trapped() != nullptr) return residency::failed;
    const cudaError_t now = cudaStreamQuery(stream_);
    if (now == cudaSuccess) return residency::absent;
    if (now == cudaErrorNotReady) return residency::resident;
    failed_ = now;
    return residency::failed;
  }
  [[nodiscard]] failure_report failure() override {
    if (const wire::call_queue* const one = trapped(); one != nullptr) {
      const std::size_t length = ::strnlen(one->trap_reason, sizeof one->trap_reason);
      return {"trap() was called: " + std::string(one->trap_reason, length), {wire::executed_function(*one)}};
    }
    failure_report report{describe(failed_), {}};
    for (wire::call_queue& one : queues()) {
      const std::uint32_t function = wire::executed_function(one);
      if (function != wire::leave_function) report.functions.push_back(function);
    }
    return report;
  }

  [[nodiscard]] std::uint64_t stage(std::span<const std::byte> bytes) override {
    std::byte* const to = staging_.take(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    return reinterpret_cast<std::uintptr_t>(to);
  }
  void unstage(std::uint64_t address) noexcept override {
    staging_.give(reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address)));
  }

  [[nodiscard]] void* stream_of(std::uint32_t context) noexcept override {
    return context == 0 ? stream_without_context_ : streams_[context % streams_.size()];
  }

 private:
  /// The queue of a block whose function has called trap(); nullptr: none has.
  [[nodiscard]] const wire::call_queue* trapped() noexcept {
    for (const wire::call_queue& one : queues())
      if (wire::acquire(one.trapped) != 0) return &one;
    return nullptr;
  }
  static void check_code(int error) { check(static_cast<cudaError_t>(error), "the application's code for GPUs"); }

  /// Of the functions of the host, which device code sends with its messages.
  void write_numbers() const {
    if (program_.code == nullptr) return;
    const std::uint32_t count = program_.count_number_variables();
    for (std::uint32_t i = 0; i < count; ++i) {
      const wire::number_variable one = program_.number_variable_at(i);
      const std::uint32_t number = one.function->number();
      check_code(program_.code->write_variable(one.symbol, &number, sizeof number));
    }
  }

  /// A block that does not fit would wait for one that never ends.
  [[nodiscard]] std::uint32_t fitting_blocks(kernel_size size) const {
    constexpr std::uint32_t usual = 4;
    int of_one = 0;
    check_code(program_.code->count_blocks(program_.code->kernel, static_cast<int>(threads_), of_one));
    const std::uint32_t fit = static_cast<std::uint32_t>(of_one) * description_.processors;
    if (fit == 0) {
      throw config_error("the GPU has no room for a block of " + std::to_string(threads_) +
                         " threads of this application; ask for fewer in HAM_NODES, as in cuda/threads=64, or compile "
                         "with --maxrregcount");
    }
    if (size.blocks > fit) {
      throw config_error("the GPU has room for " + std::to_string(fit) + " blocks of " + std::to_string(threads_) +
                         " threads of this application at once; ask for no more in HAM_NODES, as in cuda/blocks=" +
                         std::to_string(fit));
    }
    return size.blocks == 0 ? std::min(usual, fit) : size.blocks;
  }

  const std::uint32_t threads_;
  const gpu_program program_;
  const device_description description_;
  std::uint32_t blocks_ = 0;
  cudaStream_t stream_ = nullptr;                     // of the resident kernel
  cudaStream_t stream_without_context_ = nullptr;     // of functions that run in none
  std::array<cudaStream_t, stream_count> streams_{};  // of contexts
  wire::call_queue* queues_ = nullptr;
  wire::outbox* messages_ = nullptr;
  staging_area staging_{nullptr, 0};
  wire::block_state* states_ = nullptr;
  std::uint64_t* arrived_ = nullptr;
  wire::table_row* table_ = nullptr;
  std::uint32_t functions_ = 0;
  cudaError_t failed_ = cudaSuccess;
};

}  // namespace

std::unique_ptr<device_driver> make_cuda_device(kernel_size size, gpu_program program) {
  return std::make_unique<cuda_device>(size, program);
}

}  // namespace ham::transport::cuda
