// The types that every header of HAM uses.
#pragma once

#include <cstdint>

namespace ham::inline v1 {

/// Address of a node: 0 is the host, 1 .. num_nodes()-1 are targets (paper 1, Table II).
using node_t = std::int32_t;

}  // namespace ham
