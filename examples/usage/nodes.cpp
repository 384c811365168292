// targets() and nodes(): those that can be called, whatever numbers there have been.
// expect: nodes 0 1 2 3
// expect: without node 2: nodes 0 1 3, of 4 numbers
// expect: with another: nodes 0 1 3 4, of 5 numbers
// expect: sum of their numbers: 8
// env: HAM_NODES=shm:3
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

node_t who() { return offload::this_node(); }

void print_nodes() {
  std::cout << "nodes";
  for (const node_t node : offload::nodes()) std::cout << ' ' << node;
}

int main() {
  print_nodes();
  offload::remove_node(2);
  std::cout << "\nwithout node 2: ";
  print_nodes();
  std::cout << ", of " << offload::num_nodes() << " numbers\n";  // 2 is not used again
  offload::add_node("shm:1");
  std::cout << "with another: ";
  print_nodes();
  std::cout << ", of " << offload::num_nodes() << " numbers\n";

  node_t sum = 0;
  for (const node_t target : offload::targets()) sum += offload::sync(target, fn<&who>);
  std::cout << "sum of their numbers: " << sum << '\n';
}
