// Over how many targets ham-bench graphs lays its chain of calls.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ham::inline v1::bench {

constexpr int min_chain_targets = 2;
constexpr int max_chain_targets = 8;

/// With a core for each of them and for the host, where there are as many cores; `asked`: so many all the same, 0: no
/// such wish. 2 to 8.
[[nodiscard]] constexpr int chain_targets(std::size_t cores, int asked) noexcept {
  const int wanted = asked > 0 ? asked : static_cast<int>(std::min<std::size_t>(cores, max_chain_targets + 1)) - 1;
  return std::clamp(wanted, min_chain_targets, max_chain_targets);
}

/// Whether each node has a core of its own.
[[nodiscard]] constexpr bool cores_suffice(std::size_t cores, int targets) noexcept {
  return cores > static_cast<std::size_t>(targets);
}

}  // namespace ham::bench
