// ping: fire and forget. There is no result to wait for, and no exception comes back.
// expect: the target counted 5 pings
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

int counter = 0;  // every node has its own

void count(int by) { counter += by; }
int counted() { return counter; }

int main() {
  const node_t target = 1;
  for (int i = 0; i < 5; ++i) offload::ping(target, fn<&count>, 1);

  // Calls to one node run in the order in which they were made, so this one sees all pings done.
  std::cout << "the target counted " << offload::sync(target, fn<&counted>) << " pings\n";
}
