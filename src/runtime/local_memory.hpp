// Memory of this node that others name, and the elements that cross.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/offload/memory.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload::detail {

/// Of memory of the process: of a node that allocates on its device there is none.
[[nodiscard]] inline void* pointer_to(raw_buffer own) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(own.address));
}

/// Throws ham::buffer_error unless `what` is the beginning of `bytes` bytes of a live allocation of this node.
void check_local(engine& at, raw_buffer what, std::size_t bytes);
/// Writes, or reads, memory of this node; where that is a device's, waits for its copy. Memory that was not allocated
/// here (tag 0) is tried by the kernel. Throws ham::buffer_error, and ham::call_error if the device fails.
void store_local(engine& at, raw_buffer to, const void* from, std::size_t bytes);
void load_local(engine& at, raw_buffer from, void* to, std::size_t bytes);
/// The same of memory that check_local has been asked for, unless it has no tag.
void store_checked(engine& at, raw_buffer to, const void* from, std::size_t bytes);
void load_checked(engine& at, raw_buffer from, void* to, std::size_t bytes);

/// The size of the numbers that must be byte-swapped on the way to or from a node; 0: none. Throws for elements that
/// cannot cross, and as peer_of.
[[nodiscard]] std::uint32_t swap_width(engine& at, node_t node, const element& of,
                                       const ham::detail::wait_limit& limit = {});
/// The same of a node that is connected.
[[nodiscard]] std::uint32_t swap_width(const engine& at, const ham::detail::peer& who, const element& of);
/// Swaps the bytes of each number; 0: none.
void swap_bytes(std::byte* numbers, std::size_t bytes, std::uint32_t number_bytes) noexcept;

}  // namespace ham::offload::detail
