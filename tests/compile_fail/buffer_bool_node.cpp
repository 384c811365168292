// expect: ham: a bool is not the number of a node
// lines: 15
// Memory of node 1, where a flag was meant.
#include <ham/offload.hpp>

int main() {
  const ham::offload::buffer<int> there(true, 100);
  return static_cast<int>(there.size());
}
