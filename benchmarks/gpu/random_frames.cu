#include "random_frames.hpp"

#include <ham/device/nvidia/kernel.hpp>

#include <chrono>
#include <cstdint>
#include <new>
#include <random>
#include <vector>

#include "cuda_check.hpp"

namespace gpu_benchmark {
namespace {

namespace wire = ham::device::detail;

/// Zero at first, and the process's until it ends.
template <class Value>
Value* on_gpu(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(Value)));
  check(cudaMemset(memory, 0, count * sizeof(Value)));
  return static_cast<Value*>(memory);
}

/// A kernel of one block, and its queue.
class lone_kernel {
 public:
  lone_kernel() {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(wire::call_queue), cudaHostAllocMapped));
    queue_ = new (memory) wire::call_queue{};
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    rows_.resize(wire::count_functions());
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      const wire::function_entry& one = wire::function_at(i);
      rows_[i] = one.row;
      rows_[i].body = nullptr;
      if (one.symbol() != nullptr) check(cudaMemcpyFromSymbol(&rows_[i].body, one.symbol(), sizeof rows_[i].body));
    }
    auto* const table = on_gpu<wire::table_row>(rows_.size() + 1);
    check(cudaMemcpy(table, rows_.data(), rows_.size() * sizeof rows_[0], cudaMemcpyHostToDevice));
    const wire::loop_parameters with{queue_, on_gpu<wire::block_state>(1), table,
                                     static_cast<std::uint32_t>(rows_.size())};
    auto* const arrived = on_gpu<std::uint64_t>(1);
    check(cudaDeviceSynchronize());
    wire::resident_kernel<><<<1, 32, 0, stream_>>>(with, arrived);
    check(cudaGetLastError());
  }

  [[nodiscard]] const std::vector<wire::table_row>& rows() const { return rows_; }
  [[nodiscard]] wire::call_queue& queue() { return *queue_; }
  /// The reply at `position`. Throws if there is none after a second, or if the kernel has failed.
  const wire::reply_slot& reply(std::uint64_t position) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (;;) {
      for (int i = 0; i < 1000; ++i)
        if (const wire::reply_slot* const found = wire::find_reply(*queue_, position, INT64_MAX)) return *found;
      if (const cudaError_t now = cudaStreamQuery(stream_); now != cudaErrorNotReady) check(now);
      if (std::chrono::steady_clock::now() > until) throw std::runtime_error("the kernel does not answer a frame");
    }
  }
  void leave(std::uint64_t position) {
    wire::send_call(*queue_, position, wire::leave_function, 0, 0);
    static_cast<void>(reply(position));
    check(cudaStreamSynchronize(stream_));
  }

 private:
  wire::call_queue* queue_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::vector<wire::table_row> rows_;
};

/// A frame that is no call: of an unknown number, or with a size that is not the function's.
void send_random(lone_kernel& kernel, std::uint64_t position, std::mt19937_64& random) {
  wire::call_slot& slot = kernel.queue().call_at(position);
  for (std::byte& one : slot.arguments) one = static_cast<std::byte>(random());
  wire::call_header& start = kernel.queue().header_at(position);
  start.first_argument = random();
  wire::release(start.what, random() | std::uint64_t{1} << 63);  // of no position here
  const auto known = static_cast<std::uint32_t>(kernel.rows().size());
  auto function = static_cast<std::uint32_t>(random());
  auto size = static_cast<std::uint32_t>(random() % wire::elsewhere_size);
  if (random() % 2 == 0) {
    function %= known;
    const wire::table_row& row = kernel.rows()[function];
    if (row.varies)
      function += known;
    else if (size == row.min_size)
      ++size;
  } else if (function %= wire::chain_function; function < known) {
    function = known;
  }
  wire::send_call(kernel.queue(), position, function, size, random() % 2 == 0 ? 0 : random());
}

}  // namespace

random_outcome execute_random_frames(std::uint64_t count) {
  constexpr std::chrono::minutes limit{1};
  const auto until = std::chrono::steady_clock::now() + limit;
  lone_kernel kernel;
  std::mt19937_64 random(17);
  random_outcome result;
  for (std::uint64_t sent = 0; result.answered < count;) {
    for (; sent < count && sent - result.answered < wire::queue_slots; ++sent) send_random(kernel, sent, random);
    const wire::reply_slot& reply = kernel.reply(result.answered++);
    if (wire::status_of(reply) == ham::device::call_status::done) ++result.executed;
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("random frames take more than a minute");
  }
  kernel.leave(count);
  return result;
}

}  // namespace gpu_benchmark
