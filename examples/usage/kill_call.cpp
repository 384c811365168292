// kill_call: a function that hangs and never asks whether it should stop is ended with its process.
// expect: ^it hangs: true$
// expect: ^killed: true$
// expect: ^the call: node 1 is lost, may have run$
// expect: ^its next process answers: true$
// env: HAM_NODES=shm:1
#include <ham/offload.hpp>

#include <chrono>
#include <iostream>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

void hang() {
  for (;;) std::this_thread::sleep_for(1s);
}
bool answer() { return true; }

int main() {
  std::cout << std::boolalpha;
  offload::supervise(1);  // else the node is lost for good
  auto call = offload::async(1, fn<&hang>);

  // request_stop() would tell a function that asks; this one never does.
  std::cout << "it hangs: " << !call.wait_for(100ms) << '\n';
  // Whatever else the process does ends, too, and its memory and objects are gone.
  std::cout << "killed: " << offload::kill_call(call) << '\n';
  try {
    call.get();
  } catch (const node_failure& failure) {
    std::cout << "the call: node " << failure.node() << " is lost, " << to_string(failure.outcome()) << '\n';
  }
  std::cout << "its next process answers: " << offload::sync(1, fn<&answer>) << '\n';
}
