// retry: a call that may be repeated survives the death of its node.
// expect: ^the answer is 42, of the second process$
// expect: ^without retry: may have run$
// env: HAM_NODES=shm:1+restart
#include <ham/offload.hpp>

#include <csignal>
#include <iostream>

using namespace ham;

/// Fails in the first process of the node: its own number is the supervised one.
int fragile(int value) {
  if (offload::number_of(offload::this_node()) == offload::this_node()) std::raise(SIGKILL);
  return value;
}
void crash() { std::raise(SIGKILL); }

int main() {
  // idempotent() says that running it twice does no harm; retry() that it is sent again, at most three times.
  const int answer = offload::sync(offload::retry(1, 3), idempotent(fn<&fragile>), 42);
  std::cout << "the answer is " << answer << ", of the second process\n";

  try {
    offload::sync(1, fn<&crash>);
  } catch (const node_failure& failure) {  // others are not repeated
    std::cout << "without retry: " << to_string(failure.outcome()) << '\n';
  }
}
