// Which transports this library has, and what of them can be used here.
#pragma once

#include <string>
#include <vector>

namespace ham::inline v1 {

/// A transport as this process finds it.
struct transport_info {
  std::string name;     ///< "shm"
  std::string syntax;   ///< how its groups are written in HAM_NODES: "shm[:COUNT]"
  std::string meaning;  ///< what such targets are, in a few words
  bool available = false;
  std::string remark;   ///< why it is not available and what to do; or what it cannot do here
  std::string version;  ///< of what it rests on: the MPI, or what secures connections
  std::string trial;    ///< runtime_options::nodes of a job with one target that can be tried at once; empty: none
};
/// All transports that HAM_NODES can ask for. Loads their modules and checks whether what they need is installed;
/// starts no process. Any thread; does not throw but for lack of memory.
[[nodiscard]] std::vector<transport_info> list_transports();

}  // namespace ham
