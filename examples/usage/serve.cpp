// runtime::serve: a program that returns from main in its targets as well.
// expect: host: target 1 says 42
// expect: target 1 has served, and returns from main
// link: ham::ham
// env: HAM_NODES=shm:1
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

int answer() { return 42; }

int main(int argc, char** argv) {
  runtime_options options;
  options.returns_in_targets = true;
  runtime rt(argc, argv, options);
  const node_t self = rt.this_node();
  if (rt.serve()) {  // false on the host, at once; in a target true, when the host has ended
    std::cout << "target " << self << " has served, and returns from main" << std::endl;
    return 0;
  }
  std::cout << "host: target 1 says " << offload::sync(1, fn<&answer>) << std::endl;
}
