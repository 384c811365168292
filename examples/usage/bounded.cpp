// within, wherever a node is: no verb waits for a node for ever, and what comes too late is given back.
// expect: memory: too late
// expect: context: too late
// expect: bytes: too late, may have run
// expect: the buffer is left to the node
// expect: afterwards: 5
#include <ham/offload.hpp>

#include <signal.h>

#include <array>
#include <chrono>
#include <iostream>

using namespace ham;
using namespace std::chrono_literals;
using offload::within;

void caught_up() {}

template <class What>
void try_it(const char* name, What what) {
  try {
    what();
    std::cout << name << ": in time\n";
  } catch (const deadline_exceeded& error) {
    std::cout << name << ": too late, " << to_string(error.outcome()) << '\n';
  }
}

int main() {
  const std::array<int, 3> numbers{1, 2, 5};
  offload::buffer<int> source(1, 3);
  offload::buffer<int> target(1, 3);
  offload::put(within(1, 10s), numbers, source).get();

  const auto pid = static_cast<pid_t>(offload::get_node_descriptor(1).pid());
  ::kill(pid, SIGSTOP);  // a node that hangs
  try_it("memory", [] { const offload::buffer<int> more(within(1, 50ms), 1000); });
  try_it("context", [] { const offload::context queue(within(1, 50ms)); });
  try_it("bytes", [&] { offload::copy(within(1, 50ms), source, target).get(); });
  offload::buffer<int> unused = std::move(source);
  if (!unused.reset(50ms)) std::cout << "the buffer is left to the node\n";  // which frees it when it goes on
  ::kill(pid, SIGCONT);

  offload::sync(1, fn<&caught_up>);  // its queue is in order: what was sent before has been done
  std::array<int, 3> back{};
  offload::get_sync(within(1, 10s), target, back);  // the copy came late, but it came
  std::cout << "afterwards: " << back[2] << '\n';
}
