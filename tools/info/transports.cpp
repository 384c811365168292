// Transports and nodes by trial.
#include "transports.hpp"

#include <cstdlib>
#include <exception>

namespace ham::info {

namespace {

void answer() {}

/// A transport of HAM, and why this release cannot have it; empty: it is tried.
struct known_transport {
  const char* name;
  const char* missing;
};

// Shared memory comes first: a process started as its target must become one at the first runtime that it makes.
constexpr known_transport all[] = {
    {"shm", ""},
    {"loopback", ""},
    {"emulated", ""},
    {"tcp", ""},
    {"mpi", ""},
    {"ucx", "not part of this release; InfiniBand and RoCE are reached through mpi"},
    {"veo", "not tried: it wants libveo.so.1 (HAM_VEO_LIBRARY) and the application built for a Vector Engine"},
    {"vedma", "not tried: it wants what veo wants"},
    {"cuda", "not part of this release; functions on a target may use CUDA by themselves"},
};

runtime_options options_for(std::string nodes) {
  runtime_options options;
  options.nodes = std::move(nodes);
  return options;
}

}  // namespace

std::vector<transport_state> try_transports() {
  std::vector<transport_state> result;
  for (const known_transport& one : all) {
    transport_state& state = result.emplace_back(transport_state{one.name, false, one.missing, {}});
    if (!state.reason.empty()) continue;
    if (state.name == "tcp" || state.name == "mpi") {  // to try them would take other processes
      const module_state module = look_for_module(state.name);
      state.available = module.available;
      state.reason = module.remark;
      state.version = module.version;
      continue;
    }
    try {
      const runtime up(options_for(state.name + ":1"));
      offload::sync(1, fn<&answer>);
      state.available = true;
    } catch (const std::exception& problem) {
      state.reason = problem.what();
    }
  }
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
