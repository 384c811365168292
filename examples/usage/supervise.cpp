// supervise: a target that dies is started again under its number, and its state is rebuilt before calls arrive.
// expect: ^before: 6$
// expect: ^the call that was running: may have run$
// expect: ^respawned: process 3 is node 1, epoch 1$
// expect: ^after: 6$
// expect: ^node 1 is process 3$
// expect: ^old memory: refused$
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>

#include <csignal>
#include <iostream>
#include <numeric>
#include <vector>

using namespace ham;

double sum(offload::buffer_ptr<double> values, std::size_t count) {
  return std::accumulate(values.get(), values.get() + count, 0.0);
}
void nothing() {}
void crash() { std::raise(SIGKILL); }

int main() {
  const std::vector<double> weights{1, 2, 3};
  offload::buffer<double> model;
  const auto fill = [&](node_t node) {
    model = offload::buffer<double>(node, weights.size());
    offload::put(weights.data(), model.ptr(), weights.size()).get();
  };

  fill(1);
  const offload::buffer_ptr<double> before = model.ptr();
  std::cout << "before: " << offload::sync(1, fn<&sum>, before, weights.size()) << '\n';

  // Runs on a thread of the library. Other calls to node 1 wait meanwhile; its own reach the new process.
  offload::supervise(1, {.on_respawn = [&](const offload::respawned& fresh) {
                       fill(fresh.node);
                       std::cout << "respawned: process " << fresh.process << " is node " << fresh.node << ", epoch "
                                 << fresh.epoch << '\n';
                     }});

  try {
    offload::sync(1, fn<&crash>);
  } catch (const node_failure& failure) {  // what was running is not repeated
    std::cout << "the call that was running: " << to_string(failure.outcome()) << '\n';
  }
  // The first call waits for the new process; the model is there then.
  offload::sync(1, fn<&nothing>);
  std::cout << "after: " << offload::sync(1, fn<&sum>, model.ptr(), weights.size()) << '\n';

  std::cout << "node 1 is process " << offload::process_of(1) << '\n';

  try {
    offload::put(weights.data(), before, weights.size()).get();
  } catch (const node_failure&) {  // memory is that of the process which has died
    std::cout << "old memory: refused\n";
  }
}
