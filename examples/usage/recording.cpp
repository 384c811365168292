// read_recordings: what the nodes of a job did last, also one that has died. ham-trace last PID prints the same.
// expect: node 1, dead: executing crash\(\)
// expect: node 1, dead: executed answer\(\)
// expect: node 2: execut(ed|ing) answer\(\)
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>
#include <ham/offload/recording.hpp>

#include <unistd.h>

#include <csignal>
#include <iostream>

using namespace ham;

int crash() { return std::raise(SIGKILL); }
int answer() { return 42; }

void print(const node_recording& node, const node_recording::event& one) {
  std::cout << "node " << node.node << (node.alive ? "" : ", dead") << ": " << to_string(one.what) << ' '
            << one.function << '\n';
}

int main() {
  for (const node_t node : offload::targets()) static_cast<void>(offload::sync(node, fn<&answer>));
  try {
    offload::sync(1, fn<&crash>);
  } catch (const node_failure& failure) {
    std::cout << failure.what() << '\n';  // ends with the last events
  }
  for (const node_recording& node : read_recordings(::getpid())) {
    for (const node_recording::thread& thread : node.threads) {
      for (const auto& one : thread.executing) print(node, one);
      for (const auto& one : thread.past) print(node, one);
    }
  }
}
