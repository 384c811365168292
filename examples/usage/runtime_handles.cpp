// rt.node(1): destinations that name their runtime, for programs and libraries with several of them.
// expect: small 2 nodes, large 4 nodes
// expect: context, buffer and object of the small one: 2 2 2
// expect: freed where it belongs
// link: ham::ham
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

std::size_t nodes_there() { return offload::num_nodes(); }
struct probe {
  std::size_t nodes() const { return offload::num_nodes(); }
};

runtime_options loopback(const char* nodes) {
  runtime_options options;
  options.nodes = nodes;
  return options;
}

int main() {
  const runtime small(loopback("loopback:1"));
  const runtime large(loopback("loopback:3"));  // made last: functions without a destination use this one

  std::cout << "small " << offload::sync(small.node(1), fn<&nodes_there>) << " nodes, large "
            << offload::sync(1, fn<&nodes_there>) << " nodes\n";

  offload::context queue(small.node(1));
  offload::buffer<int> memory(small.node(1), 100);
  const auto object = offload::make<probe>(small.node(1));
  std::cout << "context, buffer and object of the small one: " << offload::sync(queue, fn<&nodes_there>) << ' '
            << offload::sync(memory.where(), fn<&nodes_there>) << ' ' << object.call<&probe::nodes>() << '\n';

  memory.reset();  // finds its own runtime, whatever the thread uses
  std::cout << "freed where it belongs\n";
}
