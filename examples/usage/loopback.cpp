// Loopback targets: nodes that live in this process, for tests and simulation; no second process is started.
// expect: 3 nodes in 1 process, each with its own number: 1 2
// link: ham::ham
#include <ham/offload.hpp>

#include <unistd.h>

#include <iostream>

using namespace ham;

node_t who_am_i() { return offload::this_node(); }
bool same_process(long pid) { return static_cast<long>(getpid()) == pid; }

int main() {
  runtime_options options;
  options.nodes = "loopback:2";
  const runtime nodes(options);
  const auto pid = static_cast<long>(getpid());
  const bool here = offload::sync(1, fn<&same_process>, pid) && offload::sync(2, fn<&same_process>, pid);
  std::cout << nodes.num_nodes() << " nodes in " << (here ? "1 process" : "several processes")
            << ", each with its own number: " << offload::sync(1, fn<&who_am_i>) << ' '
            << offload::sync(2, fn<&who_am_i>) << '\n';
}
