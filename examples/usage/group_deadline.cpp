// Deadlines and stop tokens of calls to groups, of replays of graphs, and of transfers.
// expect: ^node 1: 10$
// expect: ^node 2: too late$
// expect: ^the replay: too late, may have run$
// expect: ^a replay without room: too late, not run$
// expect: ^the graph goes on: 10$
// expect: ^by a token: stopped, not run$
// expect: ^the transfer: stopped, not run$
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>
#include <ham/offload/group.hpp>

#include <chrono>
#include <iostream>
#include <stop_token>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

/// Takes long on one node, unless its caller does not wait any more.
int work(node_t slow_one) {
  const auto stop = this_call::stop_token();
  if (offload::this_node() == slow_one)
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
  return 10 * offload::this_node();
}
/// Of a stage: its token tells nothing, the deadline ends the wait for it only.
int stage(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  return 10;
}

template <class What>
void show(const char* of, What what) {
  try {
    const int value = what();
    std::cout << of << ": " << value << '\n';
  } catch (const deadline_exceeded& late) {
    std::cout << of << ": too late, " << to_string(late.outcome()) << '\n';
  } catch (const operation_cancelled& stopped) {
    std::cout << of << ": stopped, " << to_string(stopped.outcome()) << '\n';
  }
}

int main() {
  // Each node has a value or an error; the deadline travels along the tree of the group, and the functions see it.
  const offload::group both{{1, 2}};
  const auto results = offload::async_all(offload::within(both, 1s), fn<&work>, 2).get();
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::cout << "node " << i + 1 << ": ";
    if (results.ok(i) && i == 0)
      std::cout << results.value(i) << '\n';
    else
      std::cout << "too late\n";
  }

  // A deadline of a replay bounds the wait for room as well: here one may be in flight.
  offload::graph g;
  auto step = g.compile(g.call(1, fn<&stage>, g.input<std::chrono::milliseconds>()), {.in_flight = 1});
  show("the replay", [&] { return step.within(200ms)(1000ms).get(); });
  auto running = step(1000ms);
  show("a replay without room", [&] { return step.within(100ms)(0ms).get(); });
  show("the graph goes on", [&] { return running.get(); });

  // A token may stand for any of them.
  std::stop_source source;
  source.request_stop();
  show("by a token", [&] { return step.stoppable(source.get_token())(0ms).get(); });
  const offload::buffer<int> there(1, 1);
  const int value = 5;
  show("the transfer", [&] {
    offload::put(offload::stoppable(1, source.get_token()), &value, there.ptr(), 1).get();
    return value;
  });
}
