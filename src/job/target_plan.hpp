// Which numbers the targets of a list of groups have, and which node starts them.
#pragma once

#include <cstddef>
#include <vector>

#include "ham/misc/types.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::detail {

/// A node that is to be started or reached.
struct fresh_target {
  node_t node;
  const transport::target_group* group;
  /// The host; a rank, for groups of which each rank has its own (target_group::each_rank); or a waiting program, for
  /// what it has behind it (target_group::behind).
  node_t starter = 0;
};

using fresh_targets = std::vector<fresh_target>;

/// The targets of `groups`, which live as long as what is given, in the order of their numbers, from `first` on.
/// `ranks`: processes that a launcher has started together, the host included; 1: there is the host only. Groups of a
/// launcher are left out: their processes have numbers.
[[nodiscard]] fresh_targets plan_targets(const std::vector<transport::target_group>& groups, node_t first,
                                         std::size_t ranks);

/// Those of them that `starter` starts.
[[nodiscard]] fresh_targets targets_of(const fresh_targets& all, node_t starter);

}  // namespace ham::detail
