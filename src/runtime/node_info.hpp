// What a node says of itself.
#pragma once

#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

/// Describes this process, as node `self`.
[[nodiscard]] offload::node_descriptor::info local_node_info(node_t self);

}  // namespace ham::detail
