// What a node says of itself and of others.
#pragma once

#include "ham/offload/node.hpp"

namespace ham::detail {

class engine;

[[nodiscard]] offload::statistics statistics_of(const engine& at);
/// Throws ham::node_failure.
[[nodiscard]] offload::node_descriptor describe(engine& at, node_t node);
[[nodiscard]] bool is_alive(engine& at, node_t node);

}  // namespace ham::detail
