// In place of src/runtime/device_of_process.cpp: each simulated process has a device of its own.
#include <map>
#include <mutex>

#include "runtime/device_calls.hpp"
#include "sim/scheduler.hpp"

namespace ham::inline v1::detail {
namespace {

struct process_device {
  std::mutex mutex;
  device_calls* calls = nullptr;
  const engine* node = nullptr;  // stays when the device has ended
};

std::map<int, process_device> devices_of_processes;

process_device& device_here() { return devices_of_processes[sim::simulated() ? sim::me->node : sim::no_node]; }

}  // namespace

std::mutex& device_calls::end_mutex() noexcept { return device_here().mutex; }

device_calls* device_calls::of_this_process() noexcept { return device_here().calls; }

device_calls* device_calls::of(const engine* at) noexcept { return is_of(at) ? device_here().calls : nullptr; }

bool device_calls::is_of(const engine* at) noexcept { return at != nullptr && device_here().node == at; }

void device_calls::begin_in_process() noexcept {
  device_here().calls = this;
  device_here().node = &at_;
}

void device_calls::end_in_process() noexcept {
  const std::lock_guard guard(end_mutex());
  device_here().calls = nullptr;
}

}  // namespace ham::detail
