// Which transports and nodes are there, found out by starting them.
#pragma once

#include <ham/offload.hpp>

#include <string>
#include <vector>

namespace ham::inline v1::info {

/// A transport, tried by starting a job with one target of it and calling it once; one for other machines by loading
/// its module.
struct transport_state {
  std::string name;
  bool available = false;
  std::string reason;   ///< why not, and how to get it; or what it cannot do
  std::string version;  ///< of what it rests on
};

/// Tries every transport that this release has. In a process that is itself started as a target this does not return.
[[nodiscard]] std::vector<transport_state> try_transports();

/// The nodes that HAM_NODES, or its default, gives an application here.
struct node_list {
  std::string setting;
  std::vector<offload::node_descriptor> nodes;
  std::string problem;  ///< why there are none
};

[[nodiscard]] node_list start_nodes();

}  // namespace ham::info
