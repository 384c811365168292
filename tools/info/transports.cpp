// Transports and nodes by trial.
#include "transports.hpp"

#include <cstdlib>
#include <exception>

namespace ham::info {

namespace {

void answer() {}

// Shared memory comes first: a process started as its target must become one at the first runtime that it makes.
constexpr const char* names[] = {"shm", "loopback", "tcp", "mpi", "ucx", "veo", "vedma", "cuda"};

runtime_options options_for(std::string nodes) {
  runtime_options options;
  options.nodes = std::move(nodes);
  return options;
}

}  // namespace

std::vector<transport_state> try_transports() {
  std::vector<transport_state> result;
  for (const char* name : names) {
    transport_state& state = result.emplace_back(transport_state{name, false, ""});
    try {
      const runtime up(options_for(std::string(name) + ":1"));
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
