// Output of targets: it arrives line by line on the host's standard output.
// expect: ^node 1: hello from far away$
// expect: ^host: done$
#include <ham/offload.hpp>

#include <iostream>
#include <string>

using namespace ham;

void say(const std::string& text) { std::cout << "node " << offload::this_node() << ": " << text << std::endl; }

int main() {
  offload::sync(1, fn<&say>, "hello from far away");
  // Lines are never mixed with each other; which comes first is not promised between different nodes.
  std::cout << "host: done" << std::endl;
}
