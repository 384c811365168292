// Calls of other nodes that write and read memory of this node's device: they are answered when the device has copied,
// and the thread that has received them goes on at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>

#include "ham/msg/codec.hpp"
#include "ham/offload/detail/call_message.hpp"
#include "runtime/device_rows.hpp"
#include "transport/device_memory.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// Writes what a call has brought, and answers it, without waiting for the device. Its memory has been checked. False,
/// and nothing is done: they are more bytes than one access moves, so that the caller has to see to it.
[[nodiscard]] bool store_later(incoming_call& call, const device_rows& to, std::span<const std::byte> bytes);
/// Answers with what it has read: as a std::vector<std::byte>.
[[nodiscard]] bool load_later(incoming_call& call, const device_rows& from, std::size_t bytes);

/// Whole pages of the caller that this process has mapped. `of` outlives `bytes`.
struct mapped_pages {
  std::shared_ptr<transport::remote_memory> of;
  std::shared_ptr<std::byte> bytes;
  std::size_t size = 0;
};
/// Copies between the device and `bytes` bytes of these pages, from `offset` on, and answers: directly where the device
/// has locked the pages, else through staging memory. All of it has been checked. `where` is of packed bytes.
void copy_mapped_later(incoming_call& call, const device_rows& where, transport::device_copy::direction which,
                       mapped_pages pages, std::size_t offset, std::size_t bytes);

/// Copies out of the arena of another node's device, and answers. All of it has been checked.
void copy_peer_later(incoming_call& call, std::shared_ptr<transport::peer_arena> from,
                     const transport::peer_copy& what);

/// Whether this node allocates memory of a device.
[[nodiscard]] bool allocates_on_device(const incoming_call& call) noexcept;

/// The arguments of a call that is taken over, which are of these decayed parameter types: for a structured binding.
/// Valid as long as the call's bytes; throws as msg::decode(). The call is not marked as decoded.
template <class... Params>
[[nodiscard]] std::tuple<msg::decode_result_t<Params>...> arguments_of(const incoming_call& call) {
  msg::reader from(call.payload);
  std::tuple<msg::decode_result_t<Params>...> result = msg::decode_pack<Params...>(from);
  from.expect_end();
  return result;
}

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
