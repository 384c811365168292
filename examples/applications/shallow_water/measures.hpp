// What the evaluation measures of shallow water: targets beside threads, the cost of files, the death of a target.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>
#include <vector>

#include "common/program.hpp"
#include "shallow_water/flow.hpp"

namespace shallow_water {

struct measure_plan {
  domain of;
  std::uint64_t steps = 0;  ///< of each run
  std::uint64_t every = 0;  ///< steps between states that the host collects, where it does
  int repetitions = 0;
};

/// The end of each run is compared with that of the serial run. If there are two targets or more, and the last of them
/// is another process, it is killed in the end.
[[nodiscard]] app::outcome measure(const measure_plan& plan, const std::vector<ham::node_t>& targets);

}  // namespace shallow_water
