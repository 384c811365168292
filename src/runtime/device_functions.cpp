// The device functions of this process, and its code for devices.
#include <atomic>
#include <mutex>
#include <vector>

#include "base/immortal.hpp"
#include "base/log.hpp"
#include "ham/device/device_code.hpp"

namespace ham::inline v1::device::detail {
namespace {

/// Never destroyed: threads may look while the process ends.
struct function_list {
  std::mutex mutex;
  std::vector<const function_entry*> entries;
};
function_list& listed() { return base::immortal<function_list>(); }

}  // namespace

void function_entry::enlist() {
  function_list& all = listed();
  std::lock_guard guard(all.mutex);
  if (number() != UINT32_MAX) return;
  all.entries.push_back(this);
  number_.store(static_cast<std::uint32_t>(all.entries.size() - 1), std::memory_order_relaxed);
}

std::uint32_t count_functions() noexcept {
  function_list& all = listed();
  std::lock_guard guard(all.mutex);
  return static_cast<std::uint32_t>(all.entries.size());
}

const function_entry& function_at(std::uint32_t number) noexcept {
  function_list& all = listed();
  std::lock_guard guard(all.mutex);
  return *all.entries[number];
}

namespace {
std::atomic<const device_code*> code_of_process{nullptr};
std::atomic<bool> code_left_out{false};
}  // namespace

const device_code* device_code_of_process() noexcept { return code_of_process.load(std::memory_order_acquire); }

bool enlist_device_code(const device_code& code, std::uint32_t layout) noexcept {
  if (layout == queue_layout) {
    code_of_process.store(&code, std::memory_order_release);
    return true;
  }
  code_left_out.store(true, std::memory_order_relaxed);
  base::log("runtime", base::log_level::error,
            "the device functions of this program were compiled with the headers of another version of HAM, and are "
            "left out; compile them again");
  return true;
}

bool device_code_was_left_out() noexcept { return code_left_out.load(std::memory_order_relaxed); }

}  // namespace ham::device::detail
