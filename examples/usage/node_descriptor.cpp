// num_nodes, this_node, get_node_descriptor: who is there.
// expect: node 0 .host, here.: .* cores, .* MiB
// expect: node 1 .target.: .* cores, .* MiB
// expect: a function on node 1 sees itself as node 1
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

node_t who_am_i() { return offload::this_node(); }

int main() {
  for (node_t node = 0; node < static_cast<node_t>(offload::num_nodes()); ++node) {
    const auto& about = offload::get_node_descriptor(node);
    std::cout << "node " << node << (offload::is_host(node) ? " (host" : " (target")
              << (node == offload::this_node() ? ", here)" : ")") << ": " << about.name() << ", " << about.device_type()
              << ", " << about.isa() << ", " << about.cores() << " cores, " << about.memory_bytes() / (1024 * 1024)
              << " MiB, pid " << about.pid() << ", by " << about.transport() << '\n';
  }
  std::cout << "a function on node 1 sees itself as node " << offload::sync(1, fn<&who_am_i>) << '\n';
}
