// A run from a state to its last step, with pictures and checkpoints on the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shallow_water/simulation.hpp"

namespace shallow_water {

struct run_plan {
  std::uint64_t steps = 400;       ///< the step that it ends with
  std::uint64_t every = 100;       ///< steps between states that the host collects
  std::string frames, checkpoint;  ///< a folder and a file for each of these states; empty: none
};

struct run_result {
  checkpoint end;
  std::vector<std::string> failures;
  std::size_t targets = 0;  ///< at the end
  /// Seconds: of all, and the parts that the simulation tells apart.
  double total = 0.0, computing = 0.0, moving = 0.0, files = 0.0, lost = 0.0, giving_up = 0.0;
};

[[nodiscard]] run_result run_on(const std::vector<ham::node_t>& targets, const checkpoint& start, const run_plan& plan,
                                planned_death death = {});

}  // namespace shallow_water
