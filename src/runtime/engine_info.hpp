// What a node says of itself and of others.
#pragma once

#include "ham/offload/node.hpp"

namespace ham::inline v1::detail {

class engine;

[[nodiscard]] offload::statistics statistics_of(const engine& at);
/// Throws ham::call_error for a number that is no node.
[[nodiscard]] offload::peer_statistics statistics_with(engine& at, node_t node);
/// Both throw ham::deadline_exceeded if the node is not connected by the deadline of `node`; the first one also
/// ham::node_failure.
[[nodiscard]] offload::node_descriptor describe(engine& at, const offload::destination& node);
[[nodiscard]] bool is_alive(engine& at, const offload::destination& node);

}  // namespace ham::detail
