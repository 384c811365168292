// Simulated jobs in processes of their own, and failures made small.
#pragma once

#include <cstdint>
#include <string>

#include "sim/workload.hpp"

namespace ham::inline v1::sim {

struct run {
  bool failed = false;
  std::string said;  ///< on stderr
  outcome result;    ///< unless it failed

  /// What failed, without numbers: failures with the same are one.
  [[nodiscard]] std::string kind() const;
};

/// Once, before the first run: what a process makes at its first job and keeps is made, so that all runs begin alike.
void prepare_runs();
/// In a process of its own, which a crash or a hang ends.
[[nodiscard]] run run_once(const plan& what);
/// The smallest plan found that fails like `what`, which failed as `kind` says.
[[nodiscard]] plan shrink(const plan& what, const std::string& kind);
/// The options with which ham_sim simulates the plan.
[[nodiscard]] std::string options_of(const plan& what);

}  // namespace ham::sim
