// Transports and nodes by trial.
#include "transports.hpp"

#include <ham/offload/transports.hpp>

#include <cstdlib>
#include <exception>

namespace ham::inline v1::info {

namespace {

void answer() {}

/// What people look for in vain.
struct absent_transport {
  const char* name;
  const char* remark;
};
constexpr absent_transport absent[] = {
    {"ucx", "not part of this release; InfiniBand and RoCE are reached through mpi"},
};

runtime_options options_for(std::string nodes) {
  runtime_options options;
  options.nodes = std::move(nodes);
  return options;
}

}  // namespace

std::vector<transport_state> try_transports() {
  std::vector<transport_state> result;
  for (const transport_info& one : list_transports()) {
    transport_state& state = result.emplace_back(transport_state{one.name, one.available, one.remark, one.version});
    if (!state.available || one.trial.empty()) continue;
    try {
      const runtime up(options_for(one.trial));
      offload::sync(1, fn<&answer>);
    } catch (const std::exception& problem) {
      state.available = false;
      state.reason = problem.what();
    }
  }
  for (const absent_transport& one : absent) result.push_back({one.name, false, one.remark, {}});
  return result;
}

node_list start_nodes() {
  node_list result;
  const char* setting = std::getenv("HAM_NODES");
  result.setting = setting != nullptr && *setting != '\0' ? setting : "";
  try {
    const runtime up(runtime_options{});
    for (node_t node = 0; node < static_cast<node_t>(up.num_nodes()); ++node) {
      result.nodes.push_back(offload::get_node_descriptor(node));
    }
  } catch (const std::exception& problem) {
    result.problem = problem.what();
  }
  return result;
}

}  // namespace ham::info
