#include "transport/cuda/emulated_device.hpp"

#include <cstring>
#include <new>

#include "base/thread.hpp"
#include "transport/cuda/emulated_lane.hpp"

namespace ham::inline v1::transport::cuda {

emulated_device::block::block(std::uint32_t threads, std::uint32_t warps, std::uint32_t lanes) : all(threads) {
  for (std::uint32_t i = 0; i < warps; ++i) of_warps.push_back(std::make_unique<thread_barrier>(lanes));
}

emulated_device::emulated_device(const geometry& of)
    : of_(of),
      link_({of.read_ns, of.write_ns, of.fence_ns}),
      queues_(std::make_unique<device::detail::call_queue[]>(of.blocks)),
      states_(std::make_unique<device::detail::block_state[]>(of.blocks)),
      messages_(std::make_unique<device::detail::outbox[]>(of.blocks)) {}

emulated_device::~emulated_device() {
  ended_.store(true, std::memory_order_release);
  join();
}

device_description emulated_device::description() const {
  return {"emulated, " + std::to_string(of_.warps * of_.lanes) + " threads a block", "host", "none", of_.blocks,
          of_.memory == memory_kind::device ? of_.arena_bytes : 0};
}

void emulated_device::upload(std::uint32_t count) {
  table_.clear();
  for (std::uint32_t i = 0; i < count; ++i) table_.push_back(device::detail::function_at(i).row);
}

void emulated_device::launch() {
  join();
  const std::uint32_t threads = of_.warps * of_.lanes;
  blocks_.clear();
  for (std::uint32_t i = 0; i < of_.blocks; ++i)
    blocks_.push_back(std::make_unique<block>(threads, of_.warps, of_.lanes));
  grid_ = std::make_unique<thread_barrier>(of_.blocks * threads);
  running_.store(of_.blocks * threads, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < of_.blocks; ++i) {
    for (std::uint32_t k = 0; k < threads; ++k) {
      threads_.push_back(base::start_thread([this, i, k] { run_thread(i, k); }));
    }
  }
}

void emulated_device::run_thread(std::uint32_t of_block, std::uint32_t thread) noexcept {
  emulated_lane unit(*this, of_block, thread);
  device::detail::this_lane() = &unit;
  const device::detail::loop_parameters with{queues_.get(), states_.get(), table_.data(),
                                             static_cast<std::uint32_t>(table_.size())};
  try {
    device::detail::resident_loop(with, unit);
  } catch (const device_ended&) {  // the others do the same
  }
  device::detail::this_lane() = nullptr;
  running_.fetch_sub(1, std::memory_order_acq_rel);
}

void emulated_device::join() noexcept {
  for (std::thread& one : threads_) one.join();
  threads_.clear();
}

/// In this order: a thread says that it has failed before it ends. Or a kernel that has failed might be launched again,
/// and would repeat the call.
residency emulated_device::state() noexcept {
  const bool absent = running_.load(std::memory_order_acquire) == 0;
  std::lock_guard guard(mutex_);
  if (failed_) return residency::failed;
  return absent ? residency::absent : residency::resident;
}

void emulated_device::fail(const std::string& why, std::uint32_t function) noexcept {
  std::lock_guard guard(mutex_);
  if (!failed_) failure_ = {why, {function}};
  failed_ = true;
  ended_.store(true, std::memory_order_release);
}

device_driver::failure_report emulated_device::failure() {
  std::lock_guard guard(mutex_);
  return failure_;
}

bool emulated_device::awaits_answers() const noexcept {
  for (std::uint32_t i = 0; i < of_.blocks; ++i)
    if (device::detail::acquire_in_block(states_[i].sent.claimed) != 0) return true;
  return false;
}

namespace {
constexpr std::align_val_t stage_alignment{device::detail::max_alignment};
}

std::uint64_t emulated_device::stage(std::span<const std::byte> bytes) {
  void* const memory = ::operator new(bytes.size(), stage_alignment);
  std::memcpy(memory, bytes.data(), bytes.size());
  return reinterpret_cast<std::uintptr_t>(memory);
}

void emulated_device::unstage(std::uint64_t address) noexcept {
  ::operator delete(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), stage_alignment);
}

}  // namespace ham::transport::cuda
