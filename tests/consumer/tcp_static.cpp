// A fully static program that offloads over tcp.
#include <iostream>

#include "ham/offload.hpp"

int twice(int value) { return 2 * value; }

int main() {
  std::cout << "result " << ham::offload::sync(1, ham::fn<&twice>, 21) << " over "
            << ham::offload::get_node_descriptor(1).transport() << '\n';
}
