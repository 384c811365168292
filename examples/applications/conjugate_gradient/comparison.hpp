// The solver on the targets beside the same solver in this process, in turns.
#pragma once

#include <cstdint>
#include <functional>

#include "linear_system.hpp"

namespace cg {

/// Who takes turns. All begin anew from zero and lose their solutions.
struct contestants {
  linear_system* targets = nullptr;     ///< on all targets
  linear_system* one_target = nullptr;  ///< on one of several; null: there is one only
  linear_system* one_thread = nullptr;  ///< of this process; null: not measured
  linear_system* threads = nullptr;     ///< of this process, one per target; null: there are not enough cores
  double turn_seconds = 0.01;           ///< how long a turn takes, about
};

/// The shortest times of one iteration, in seconds; 0 for who did not take part. Whatever else runs on the machine can
/// only make a turn longer: the more turns, the shorter each, the surer is one that was left alone.
struct comparison {
  int rounds = 0;  ///< 0: nothing was measured
  double targets = 0.0;
  double one_target = 0.0;
  double one_thread = 0.0;
  double threads = 0.0;
};

/// Measures the first iterations of the method, at most `iterations` of them; for about two seconds. `seconds` is what
/// one iteration takes. `before_round` is called with the number of each round.
comparison compare_in_turns(const contestants& who, std::int64_t iterations, double seconds,
                            const std::function<void(int round)>& before_round);

}  // namespace cg
