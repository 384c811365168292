// node_failure: what happens to pending calls when their target dies.
// expect: node 2 failed, the call may have run
// expect: node 1 computes 42 instead
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>

#include <csignal>
#include <iostream>

using namespace ham;

int crash() { return std::raise(SIGKILL); }
int answer() { return 42; }

int main() {
  const auto last = static_cast<node_t>(offload::num_nodes() - 1);
  auto doomed = offload::async(last, fn<&crash>);
  try {
    doomed.get();  // every future settles: this one with an error, within milliseconds
    return 1;
  } catch (const node_failure& failure) {
    // what() says it all in one line; the parts are there for programs that want to act on them.
    std::cout << "node " << failure.node() << " failed, the call " << to_string(failure.outcome()) << '\n';
    std::cout << failure.what() << '\n';
  }

  // The others go on; a call that was not run, or may be repeated, can be given to one of them.
  std::cout << "node 1 computes " << offload::sync(1, fn<&answer>) << " instead\n";
}
