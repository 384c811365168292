// What a node says of itself.
#pragma once

#include "ham/offload/node.hpp"

namespace ham::detail {

/// Facts of this process, as node `self`.
[[nodiscard]] offload::node_descriptor::facts local_facts(node_t self);

}  // namespace ham::detail
