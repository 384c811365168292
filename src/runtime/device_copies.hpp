// Copies between memory of this node's device and memory of any node: by the devices themselves, or in pieces that pass
// through this process.
#pragma once

#include <cstddef>

#include "ham/offload/block.hpp"
#include "runtime/block_parts.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload::detail {

/// Complete on return. Several pieces are under way at once: while one travels, the device works on another. The
/// calling thread makes progress while it waits for other nodes. `what` has been checked, and so has the memory of this
/// node; that of the other one checks for itself. Throw what put and get fail with, and ham::call_error if the device
/// fails.
void copy_from_device(engine& at, raw_buffer from, node_t to_node, raw_buffer to, const block_rows& what, element of,
                      transfer_terms how);
/// The other node is not this one.
void copy_to_device(engine& at, node_t from_node, raw_buffer from, raw_buffer to, const block_rows& what, element of,
                    transfer_terms how);

}  // namespace ham::offload::detail
