// on_event: the program is told when nodes join, are lost, fall behind.
// expect: ^node 2: joined$
// expect: ^node 2: deadline missed$
// expect: ^node 2: lost: its process was killed by signal 9
// expect: ^node 1 goes on: 42$
// env: HAM_NODES=shm:1
#include <ham/offload.hpp>

#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

int answer() { return 42; }
void nap() { std::this_thread::sleep_for(1s); }
void crash() { std::raise(SIGKILL); }

int main() {
  // Called by the threads that make progress, one event at a time: here by the waits below.
  offload::on_event([](const offload::event& what) {
    std::cout << "node " << what.node << ": " << to_string(what.kind);
    if (what.kind == offload::event_kind::lost) std::cout << ": " << what.reason;
    std::cout << '\n';
  });

  const node_t added = offload::add_node("shm:1");
  static_cast<void>(offload::async(offload::within(added, 50ms), fn<&nap>).has_value());
  static_cast<void>(offload::async(added, fn<&crash>).has_value());
  std::cout << "node 1 goes on: " << offload::sync(1, fn<&answer>) << '\n';
}
