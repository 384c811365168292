// Groups and memory: one node's buffer for all others, places in the group, and the errors of several nodes at once.
// expect: ^node 4 is 4 of 4, its third value is 9$
// expect: ^2 of 4 nodes of a group have failed: 2 \(too small\); 3 \(too small\)$
// expect: ^the first of them: node 2$
// env: HAM_NODES=shm:4
#include <ham/offload.hpp>
#include <ham/offload/group.hpp>

#include <cmath>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ham;

std::string describe(const std::vector<offload::buffer_ptr<double>>& of) {
  const std::size_t place = *this_call::group_position();
  return "node " + std::to_string(offload::this_node()) + " is " + std::to_string(place + 1) + " of " +
         std::to_string(this_call::group_size()) + ", its third value is " + std::to_string(std::lround(of[place][2]));
}
long large_only(long limit) {
  const long size = offload::this_node() % 4;
  if (size > limit) throw std::length_error("too small");
  return size;
}

int main() {
  const offload::group all;

  // The host writes to the first node, which sends the data to the others along a tree.
  const std::vector<offload::buffer_ptr<double>> buffers = offload::allocate_all<double>(all, 4);
  offload::put(std::vector<double>{1, 4, 9, 16}.data(), buffers.front(), 4).get();
  offload::broadcast(buffers, 4);
  std::cout << offload::sync_all(all, fn<&describe>, buffers).back() << '\n';
  for (const auto& one : buffers) offload::free(one);

  // values() and sync_all throw one error for all nodes that have failed.
  try {
    static_cast<void>(offload::sync_all(all, fn<&large_only>, 1L));
  } catch (const offload::group_error& failed) {
    std::cout << failed.what() << "\nthe first of them: node " << failed.failures().front().node << '\n';
  }
}
