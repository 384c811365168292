// on_unobserved_error: errors of operations whose results nobody has read.
// expect: a put to node 1 failed, and nobody has looked
// expect: a call of .*careless.* on node 1 failed, and nobody has looked
// expect: 2 in all
#include <ham/offload.hpp>

#include <iostream>
#include <stdexcept>
#include <vector>

using namespace ham;

void careless() { throw std::runtime_error("never mind"); }

int count = 0;

int main() {
  // Without a handler each is a line on stderr, at most a few in a second; HAM_UNOBSERVED_ERRORS=ignore turns them off.
  on_unobserved_error([](const unobserved_error& what) {
    ++count;
    std::cout << "a " << to_string(what.what);
    if (!what.function.empty()) std::cout << " of " << what.function;
    std::cout << (what.what == operation::put ? " to" : " on") << " node " << what.node
              << " failed, and nobody has looked\n";
  });

  const std::vector<int> data(100);
  auto there = offload::allocate<int>(1, 10);
  offload::put(data.data(), there, 100);  // past the end: the discarded future has the error

  offload::async(1, fn<&careless>).detach();
  offload::sync(1, [] {});

  auto read = offload::async(1, fn<&careless>);
  if (!read.has_value()) std::cout << count << " in all\n";  // this one was looked at
  offload::free(there);
}
