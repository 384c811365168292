// The README's first call, in a project of its own.
#include <ham/offload.hpp>
#include <iostream>
#include <string>

using namespace ham;

std::string greet(const std::string& name) {
  return "hello " + name + ", this is node " + std::to_string(offload::this_node());
}

int main() { std::cout << offload::sync(1, fn<&greet>, "world") << '\n'; }
