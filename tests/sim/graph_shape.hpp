// What the stages of a recorded graph are, and what a replay gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/callees.hpp"

namespace ham::inline v1::sim {

/// A replay of it makes a call of each stage, and of each iteration of a repeat, with numbers that follow each other;
/// the last one gives the result.
struct graph_shape {
  std::vector<node_t> nodes;                                                  ///< of each call
  std::function<std::int64_t(call_number first, std::int64_t value)> result;  ///< of a replay with this input
  std::size_t in_flight = 1;
  bool polls = false;  ///< some of its functions, for a stop
};

}  // namespace ham::sim
