// Calls of other nodes that write and read memory of this node's device: they are answered when the device has copied,
// and the thread that has received them goes on at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ham/offload/detail/call_message.hpp"
#include "runtime/device_rows.hpp"

namespace ham::inline v0::detail {

/// Writes what a call has brought, and answers it, without waiting for the device. Its memory has been checked. False,
/// and nothing is done: they are more bytes than one access moves, so that the caller has to see to it.
[[nodiscard]] bool store_later(incoming_call& call, const device_rows& to, std::span<const std::byte> bytes);
/// Answers with what it has read: as a std::vector<std::byte>.
[[nodiscard]] bool load_later(incoming_call& call, const device_rows& from, std::size_t bytes);

/// Whether this node allocates memory of a device.
[[nodiscard]] bool allocates_on_device(const incoming_call& call) noexcept;

/// An execution policy with take(call): the call has been taken over, else it is executed as any.
template <class Policy>
concept taking_policy = requires(incoming_call& call) {
  Policy::take(call);
};

template <template <class> class Policy, call_body Body>
requires taking_policy<Policy<void>>
struct handler_under<Policy, Body> {
  static void run(void* buffer) {
    auto& call = *static_cast<incoming_call*>(buffer);
    if (!allocates_on_device(call) || !Policy<void>::take(call)) Body(call);
  }
};

}  // namespace ham::detail
