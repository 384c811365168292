// Which cores the nodes of a job wake up on: as asked for, or cores of their own.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {

/// What HAM_CPU_AFFINITY says: "auto" or nothing, "none", or a list of cores.
struct placement_wish {
  bool automatic = true;
  std::vector<int> cores;  ///< of node 0, 1, ...; empty: not a list
};
/// Throws ham::config_error.
[[nodiscard]] placement_wish parse_placement(const std::string& text);

/// Cores that the calling thread may run on, in the order in which they are handed out: first the one it runs on, then
/// others so that no two share the circuits of one physical core while there are physical cores left.
[[nodiscard]] std::vector<int> cores_to_hand_out();
/// The same from what is known of them: `siblings` are the hardware threads of a core, itself among them.
[[nodiscard]] std::vector<int> order_cores(std::vector<int> usable, int current,
                                           const std::map<int, std::vector<int>>& siblings);

/// Cores that this process has claimed for its jobs, so that other jobs of the machine take others. A claim is a socket
/// with an abstract name: it goes with the process, however that ends, and is in no file system. Jobs of other network
/// namespaces are not seen.
class core_claims {
 public:
  /// False: another job has it, or it cannot be claimed.
  bool take(int core);
  void release(int core) { held_.erase(core); }
  /// Claims the first `count` cores of `from` that are free; all or none.
  [[nodiscard]] std::vector<int> take(std::size_t count, const std::vector<int>& from);

 private:
  std::map<int, base::unique_fd> held_;
};

}  // namespace ham::detail
