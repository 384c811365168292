// The solver on the targets beside the same solver in this process, in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "csr_matrix.hpp"
#include "linear_system.hpp"

namespace cg {

/// Medians over the rounds; in each one everybody computed the same iterations, one after the other. The speed of a
/// machine that others use changes within a second: what is compared has to be measured side by side.
struct comparison {
  int rounds = 0;                ///< 0: nothing was measured
  std::size_t threads = 1;       ///< of this process, for those of the following that have "threads" in their names
  double targets_seconds = 0.0;  ///< of one iteration on the targets
  double alone_seconds = 0.0;    ///< on one thread of this process
  double threads_seconds = 0.0;  ///< on several, one per target; 0: there are not enough cores, or there is one target
  double alone_per_targets = 0.0;    ///< ratio of the times: the speed-up
  double alone_per_threads = 0.0;    ///< what it is without HAM
  double targets_per_threads = 0.0;  ///< what HAM costs
};

/// Measures the first iterations of the method, at most `iterations` of them; for about two seconds. `seconds` is what
/// one iteration takes. `cores`: of this machine, one for each target, or none if that cannot be: what runs in this
/// process uses the same ones, since even cores of one machine differ while others use them. `targets` begins anew from
/// zero and loses its solution.
comparison compare_in_turns(linear_system& targets, std::size_t target_count, std::span<const int> cores,
                            const csr_matrix& matrix, std::span<const double> inverse_diagonal,
                            std::span<const double> b, std::int64_t iterations, double seconds);

}  // namespace cg
