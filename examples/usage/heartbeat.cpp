// heartbeat: a long function gives signs of life; one that gives none is taken for one that hangs, and is ended.
// expect: ^with heartbeats: done$
// expect: ^without: the process was ended$
// expect: ^the next process: done$
// env: HAM_NODES=shm:1
#include <ham/offload.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

std::string work(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(1ms);  // a step of the computation
    this_call::heartbeat();            // costs little, and sends at most one message in 5 ms
  }
  return "done";
}
void hang() {
  for (;;) std::this_thread::sleep_for(1s);
}

int main() {
  // A call that has run for so long since its last sign of life is taken for one that hangs.
  offload::supervise(1, {.hang_after = 2s});
  std::cout << "with heartbeats: " << offload::sync(1, fn<&work>, 3s) << '\n';
  try {
    offload::sync(1, fn<&hang>);
  } catch (const node_failure&) {
    std::cout << "without: the process was ended\n";
  }
  std::cout << "the next process: " << offload::sync(1, fn<&work>, 10ms) << '\n';
}
