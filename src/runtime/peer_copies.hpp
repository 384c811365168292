// Copies between memory of devices of two processes of one machine: the device of the target copies out of the memory
// of the other one, which its process has mapped. Nothing of the bytes is sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ham/msg/customise.hpp"
#include "ham/offload/block.hpp"
#include "ham/offload/call.hpp"
#include "runtime/device_accesses.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload::detail {

/// The owner of the target copies, and the owner of the source is asked first: so memory is written by none but its
/// owner, which checks it, and that of others is only read.
///
/// Both: complete on return. `what` has been checked, and so has the memory of this node, which is its device's. False,
/// and nothing is done: the bytes go in messages, because the other node has no memory of a device of this machine, or
/// has not mapped this one's, or not yet; because of a deadline, which a device does not keep; because one_sided is
/// off, or numbers change their byte order. Throw what put and get fail with, and ham::call_error if a device fails.
[[nodiscard]] bool copy_to_peer_device(engine& at, raw_buffer from, node_t to_node, raw_buffer to,
                                       const block_rows& what, element of, transfer_terms how);
/// The other node is not this one.
[[nodiscard]] bool copy_from_peer_device(engine& at, node_t from_node, raw_buffer from, raw_buffer to,
                                         const block_rows& what, element of, transfer_terms how);

// ---- messages
/// transport::arena_handle.
struct far_arena {
  std::uint32_t size = 0;
  std::array<std::byte, transport::arena_handle::max_bytes> content{};
  HAM_FIELDS(size, content)
};
/// Rows of the arena of the caller, and memory of this node that they go to.
struct far_copy {
  std::uint64_t offset, from_pitch;  ///< in the arena
  std::uint64_t to, tag, to_pitch;
  std::uint64_t row_bytes, rows;
  HAM_FIELDS(offset, from_pitch, to, tag, to_pitch, row_bytes, rows)
};
/// Where memory of a node is in the arena of its device.
struct far_place {
  far_arena arena;  ///< of size 0: it cannot be opened
  std::uint64_t offset = 0;
  HAM_FIELDS(arena, offset)
};

/// Whether the arena of the caller is open here; if it may be, it is opened soon. An arena_use: unknown means not yet.
[[nodiscard]] std::uint8_t open_arena_here(const far_arena& of);
/// Copies out of the arena of the caller. Throws ham::buffer_error unless that is open and has these bytes, and the
/// memory is the device's.
void copy_out_of_arena_here(const far_copy& what);
/// Throws ham::buffer_error unless `bytes` bytes from `address` on are of the allocation `tag`.
[[nodiscard]] far_place place_in_arena_here(std::uint64_t address, std::uint64_t tag, std::uint64_t bytes);

/// What the first two do where there is a device.
[[nodiscard]] bool open_arena_of_caller(incoming_call& call);
[[nodiscard]] bool copy_out_of_arena_later(incoming_call& call);

template <class>
struct open_arena_on_device {
  [[nodiscard]] static bool take(incoming_call& call) { return open_arena_of_caller(call); }
};
template <class>
struct copy_out_of_arena_on_device {
  [[nodiscard]] static bool take(incoming_call& call) { return copy_out_of_arena_later(call); }
};
inline constexpr auto opening_arena = with_policy<open_arena_on_device>(fn<&open_arena_here>);
inline constexpr auto copying_out_of_arena = with_policy<copy_out_of_arena_on_device>(fn<&copy_out_of_arena_here>);

}  // namespace ham::offload::detail
