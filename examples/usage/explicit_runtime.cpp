// ham::runtime: start and end where the program says so, instead of around main.
// expect: before: no targets yet
// expect: inside: 3 nodes, node 2 says 2
// expect: after: targets have ended
// link: ham::ham
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

node_t who_am_i() { return offload::this_node(); }

int main() {
  // With ham::runtime(argc, argv), HAM_NODES and --ham-nodes decide; options set by the program decide here.
  std::cout << "before: no targets yet" << std::endl;
  {
    runtime_options options;
    options.nodes = "shm:2";
    const runtime targets(options);  // from here on in the host only: targets wait for calls instead of going on
    std::cout << "inside: " << targets.num_nodes() << " nodes, node 2 says " << offload::sync(2, fn<&who_am_i>) << '\n';
  }
  std::cout << "after: targets have ended\n";
}
