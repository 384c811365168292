// The flight recorder of a node.
#pragma once

#include "ham/misc/types.hpp"

namespace ham::inline v1::detail {

/// From now on this process records, unless HAM_RECORDER says otherwise: as node `self`, if it has recorded nothing
/// before. Throws ham::config_error for a setting that cannot be used.
void start_recorder(node_t self);

}  // namespace ham::detail
