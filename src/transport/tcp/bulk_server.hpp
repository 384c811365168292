// Serves a peer's accesses to this node's memory on one lane.
#pragma once

#include "base/heap.hpp"
#include "transport/tcp/lane.hpp"

namespace ham::inline v1::transport::tcp {

/// Until the lane ends or what comes is no request. `memory` nullptr: everything is refused.
void serve_bulk(lane& on, base::heap* memory) noexcept;

}  // namespace ham::transport::tcp
