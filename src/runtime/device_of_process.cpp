// The device of this process: it has one at most. A simulated job, whose nodes share a process, has functions of its
// own in place of these (tests/sim/device_of_process.cpp).
#include <atomic>
#include <mutex>

#include "runtime/device_calls.hpp"

namespace ham::inline v1::detail {
namespace {

std::atomic<device_calls*> of_process{nullptr};
std::atomic<const engine*> node_of_process{nullptr};

}  // namespace

std::mutex& device_calls::end_mutex() noexcept {
  static constinit std::mutex one;
  return one;
}

device_calls* device_calls::of_this_process() noexcept { return of_process.load(std::memory_order_relaxed); }

device_calls* device_calls::of(const engine* at) noexcept {
  return node_of_process.load(std::memory_order_acquire) == at ? of_process.load(std::memory_order_relaxed) : nullptr;
}

void device_calls::begin_in_process() noexcept {
  of_process.store(this, std::memory_order_relaxed);
  node_of_process.store(&at_, std::memory_order_release);
}

void device_calls::end_in_process() noexcept {
  node_of_process.store(nullptr, std::memory_order_release);
  std::lock_guard guard(end_mutex());
  of_process.store(nullptr, std::memory_order_relaxed);
}

}  // namespace ham::detail
