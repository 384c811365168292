// Which cores this process may use.
#pragma once

#include <string>
#include <vector>

namespace app {

[[nodiscard]] std::vector<int> usable_cores();
/// Binds the calling thread to one of them. A core that does not exist is ignored.
void stay_on(int core);
/// A target on each usable core, pinned, as HAM_NODES says it. Targets that wait for each other tend to be put on one
/// core otherwise. The host sleeps meanwhile.
[[nodiscard]] std::string target_per_core();
/// A logical CPU that this process may use and that is none of the core of `taken`, if there is one; else another one
/// than `taken`. -1: there is none.
[[nodiscard]] int core_apart_from(int taken);

}  // namespace app
