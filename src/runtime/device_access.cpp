// How handlers and functions of the host reach the device of their process.
#include "ham/device/offloading.hpp"
#include "runtime/device_calls.hpp"

namespace ham::inline v0::detail {

bool has_device(const incoming_call& call) noexcept { return device_calls::of(call.at) != nullptr; }

bool device_has(const device::detail::function_entry& function) {
  const std::lock_guard guard(device_calls::end_mutex());
  const device_calls* const here = device_calls::of_this_process();
  return here == nullptr || here->has(function);
}

void run_on_device(incoming_call& call, const device_request& what) {
  const std::lock_guard guard(device_calls::end_mutex());  // threads of contexts may outlive the device
  device_calls* const to = device_calls::of(call.at);
  if (to == nullptr) throw call_error("the device of this node has ended with its job");
  to->submit(call, what);
}

}  // namespace ham::detail

namespace ham::inline v0::device::detail {

void answer_device(std::uint32_t answer, const std::byte* value, std::size_t size) noexcept {
  const std::lock_guard guard(ham::detail::device_calls::end_mutex());
  ham::detail::device_calls* const to = ham::detail::device_calls::of_this_process();
  const answer_status status = value == nullptr ? answer_status::failed : answer_status::value;
  if (to != nullptr) to->answer(answer, status, value, size);
}

void fail_device(std::uint32_t answer) noexcept { answer_device(answer, nullptr, 0); }

}  // namespace ham::device::detail
