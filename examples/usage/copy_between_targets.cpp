// copy: moves data from one target to another, without a detour through the host's memory.
// expect: 1000 numbers went from node 1 to node 2, their sum is still 499500
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>

#include <iostream>
#include <numeric>

using namespace ham;

void fill(offload::buffer_ptr<int> data, std::size_t size) { std::iota(data.get(), data.get() + size, 0); }
int sum(offload::buffer_ptr<const int> data, std::size_t size) {
  return std::accumulate(data.get(), data.get() + size, 0);
}

int main() {
  constexpr std::size_t size = 1000;
  const node_t from = 1;
  const auto to = static_cast<node_t>(offload::num_nodes() - 1);  // with one target this is the same node: fine, too

  auto source = offload::allocate<int>(from, size);
  auto destination = offload::allocate<int>(to, size);

  offload::sync(from, fn<&fill>, source, size);
  offload::copy(source, destination, size).get();
  const int total = offload::sync(to, fn<&sum>, destination, size);

  std::cout << size << " numbers went from node " << from << " to node " << to << ", their sum is still " << total
            << '\n';
  offload::free(source);
  offload::free(destination);
}
