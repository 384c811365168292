// The device of this process: it has one at most. A simulated job, whose nodes share a process, has functions of its
// own in place of these (tests/sim/device_of_process.cpp).
#include <atomic>
#include <cstdint>
#include <mutex>

#include "runtime/device_calls.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
namespace {

std::atomic<device_calls*> of_process{nullptr};
std::atomic<std::uint64_t> node_of_process{0};  // its serial number: stays when the device has ended

}  // namespace

std::mutex& device_calls::end_mutex() noexcept {
  static constinit std::mutex one;
  return one;
}

device_calls* device_calls::of_this_process() noexcept { return of_process.load(std::memory_order_relaxed); }

device_calls* device_calls::of(const engine* at) noexcept {
  return is_of(at) ? of_process.load(std::memory_order_relaxed) : nullptr;
}

bool device_calls::is_of(const engine* at) noexcept {
  return at != nullptr && node_of_process.load(std::memory_order_acquire) == at->serial;
}

void device_calls::begin_in_process() noexcept {
  of_process.store(this, std::memory_order_relaxed);
  node_of_process.store(at_.serial, std::memory_order_release);
}

void device_calls::end_in_process() noexcept {
  std::lock_guard guard(end_mutex());
  of_process.store(nullptr, std::memory_order_relaxed);
}

}  // namespace ham::detail
