// Which cores this process may use, and pinning of the calling thread to one of them.
#pragma once

#include <vector>

namespace ham::inline v1::bench {

/// Cores that the process may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cores();

/// Pins the calling thread (and the threads and processes that it starts from now on). Throws std::system_error.
void pin_this_thread(int core);

/// Lets the calling thread run on any of `cores`. Throws std::system_error.
void pin_this_thread(const std::vector<int>& cores);

/// The two cores of a measurement: the host's and the one of the target and of the floor's partner; equal if there is
/// one only.
struct core_pair {
  int host = 0;
  int target = 0;
  [[nodiscard]] bool distinct() const noexcept { return host != target; }
};

}  // namespace ham::bench
