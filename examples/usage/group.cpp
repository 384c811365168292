// Groups: one call for many nodes, which goes along a tree from node to node.
// expect: ^nodes 1 2 3 4 5 6 7 8 9 10$
// expect: ^sum of squares of 1 to 10: 385$
// expect: ^longest: 10$
// expect: ^node 3 has failed: three is refused$
// expect: ^2.5 on all 10 nodes$
// expect: ^9 of 10 nodes have answered, node 4 was lost$
// env: HAM_NODES=shm:10
#include <ham/offload.hpp>
#include <ham/offload/group.hpp>

#include <algorithm>
#include <csignal>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <vector>

using namespace ham;

node_t number() { return offload::this_node(); }
long square() { return long{offload::this_node()} * offload::this_node(); }
long larger(long left, long right) { return std::max(left, right); }
void refuse(node_t node) {
  if (offload::this_node() == node) throw std::runtime_error("three is refused");
}
double first(const std::vector<offload::buffer_ptr<double>>& of) { return of[*this_call::group_position()][0]; }
void crash(node_t node) {
  if (offload::this_node() == node) std::raise(SIGKILL);
}

int main() {
  const offload::group all;  // all targets; or offload::group some({1, 2, 5})

  // One message for all of them. Results come in the order of the nodes.
  std::cout << "nodes";
  for (const node_t one : offload::async_all(all, fn<&number>).get().values()) std::cout << ' ' << one;
  std::cout << '\n';

  // Reduced on the way back: each message holds one value.
  std::cout << "sum of squares of 1 to 10: " << offload::reduce_all(all, fn<&square>, std::plus<>()).get() << '\n';
  std::cout << "longest: " << offload::reduce_all(all, fn<&number>, fn<&larger>).get() << '\n';

  // Each node has a result or an error.
  const auto some = offload::async_all(all, fn<&refuse>, node_t{3}).get();
  for (const offload::group_failure& one : some.failures()) {
    try {
      std::rethrow_exception(one.error);
    } catch (const std::exception& why) {
      std::cout << "node " << one.node << " has failed: " << why.what() << '\n';
    }
  }

  // Memory on all nodes, and the same data in it.
  const std::vector<offload::buffer_ptr<double>> buffers = offload::allocate_all<double>(all, 1000);
  offload::broadcast(std::vector<double>(1000, 2.5), buffers).get().values();
  offload::barrier(all).get().values();
  const std::vector<double> found = offload::sync_all(all, fn<&first>, buffers);
  std::cout << found.front() << " on all " << std::count(found.begin(), found.end(), found.front()) << " nodes\n";

  // A node that dies takes those with it, once, that it answers for.
  static_cast<void>(offload::async_all(all, fn<&crash>, node_t{4}).get());
  const auto rest = offload::async_all(all, fn<&number>).get();
  std::cout << rest.size() - rest.failures().size() << " of " << rest.size() << " nodes have answered, node "
            << rest.failures().front().node << " was lost\n";
}
