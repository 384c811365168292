// put and get between pinned memory of this node and memory of a device whose process has it mapped: nothing of the
// bytes is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ham/offload/call.hpp"
#include "runtime/device_accesses.hpp"
#include "runtime/far_rows.hpp"
#include "runtime/memory_access.hpp"

namespace ham::inline v1::offload::detail {

/// Bytes of the caller's pinned memory, as a message names them (pinned_pool::place).
struct far_pages {
  std::uint64_t block, tag, block_bytes, offset;
  HAM_FIELDS(block, tag, block_bytes, offset)
};

/// To a node that copies mapped memory (peer::copies_mapped): begins it in messages that name the bytes, if `what` is
/// one that goes so. Its local bytes follow each other and lie in one pinned array, which stays until it has settled.
/// It has no deadline, because the device cannot be stopped then. Nothing: it goes as any other. Numbers of `swapped`
/// bytes change their byte order on the way, which these do not.
[[nodiscard]] std::optional<future<void>> pinned_transfer(engine& at, const one_sided& what, std::uint32_t swapped);

/// Whether the local bytes follow each other, and nothing keeps the process of the device from copying them itself once
/// it has them mapped.
[[nodiscard]] bool may_be_mapped(engine& at, const one_sided& what, std::uint32_t swapped) noexcept;
/// Begins a part of `what`, of the `bytes` from `done` on, which lie at `here` in memory that is mapped there.
[[nodiscard]] future<void> send_mapped(engine& at, const one_sided& what, const far_pages& here, std::size_t done,
                                       std::size_t bytes);

// ---- executed by the process of the device
/// Throw ham::buffer_error: this node has no device that copies mapped memory.
void copy_in_here(const far_pages& from, const far_rows& to, std::uint64_t bytes);
void copy_out_here(const far_pages& to, const far_rows& from, std::uint64_t bytes);
/// What they do where there is one. Throw ham::buffer_error unless the pages are the caller's, and mapped here, and the
/// memory is the device's.
[[nodiscard]] bool copy_in_later(incoming_call& call);
[[nodiscard]] bool copy_out_later(incoming_call& call);

template <class>
struct copy_in_on_device {
  [[nodiscard]] static bool take(incoming_call& call) { return copy_in_later(call); }
};
template <class>
struct copy_out_on_device {
  [[nodiscard]] static bool take(incoming_call& call) { return copy_out_later(call); }
};
inline constexpr auto copying_in = with_policy<copy_in_on_device>(fn<&copy_in_here>);
inline constexpr auto copying_out = with_policy<copy_out_on_device>(fn<&copy_out_here>);

}  // namespace ham::offload::detail
