// The cores that this process may use.
#pragma once

#include <vector>

namespace cg {

/// Ascending; empty if the system does not tell.
[[nodiscard]] std::vector<int> usable_cores();

/// Keeps the calling thread on one core, if the system lets it.
void stay_on(int core);

}  // namespace cg
