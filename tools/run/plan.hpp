// Who runs where: the nodes of the job, in their order.
#pragma once

#include "machines.hpp"
#include "options.hpp"

#include <string>
#include <vector>

namespace ham::inline v1::run {

/// Targets of one machine that are started together.
struct target_group {
  std::string machine;    ///< empty: this one, through shared memory
  std::size_t first = 1;  ///< number of the first one as node of the job
  std::size_t count = 1;

  [[nodiscard]] bool is_local() const { return machine.empty(); }
  /// What stands in front of its lines: "[3] ", or "[3-5] " if they cannot be told apart.
  [[nodiscard]] std::string prefix() const;
};

/// The groups that `options` ask for; none if nodes are not its business. `this_node` is this machine's name in
/// Slurm; the host takes one of its places. Throws problem.
[[nodiscard]] std::vector<target_group> plan_targets(const run_options& options, const std::string& this_node);

/// USER@NAME without the user, in brackets if it is an IPv6 address.
[[nodiscard]] std::string address_of(const std::string& machine);

}  // namespace ham::run
