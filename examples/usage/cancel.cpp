// request_stop, stop tokens: calls that end before they are done.
// expect: the queued call: not run
// expect: the solver stopped early: true
// expect: by a token: true
// expect: what it called stopped, too: true
#include <ham/offload.hpp>

#include <chrono>
#include <iostream>
#include <stop_token>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

/// A loop of some length that asks whether its result is still wanted.
bool solve(int steps) {
  const auto stop = this_call::stop_token();
  for (int step = 0; step < steps; ++step) {
    if (stop.stop_requested()) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// Its own call is stopped with it, and has no more time than it has itself. What has to be done in any case is behind
/// a shield.
bool solve_over_there(node_t node, int steps) {
  try {
    return offload::sync(node, fn<&solve>, steps);
  } catch (const operation_cancelled&) {
    const this_call::shield cleanup;
    offload::sync(node, fn<&solve>, 1);
    return false;
  }
}

/// Also true of a call that was stopped before it began.
bool ended_early(offload::future<bool>& call) {
  try {
    return !call.get();
  } catch (const operation_cancelled&) {
    return true;
  }
}

int main() {
  // A call says when it is made that it can be stopped; others are only taken out of queues.
  auto running = offload::async(offload::stoppable(1), fn<&solve>, 60'000);
  auto queued = offload::async(offload::stoppable(1), fn<&solve>, 60'000);
  queued.request_stop();
  running.request_stop();
  try {
    queued.get();
  } catch (const operation_cancelled& error) {
    std::cout << "the queued call: " << (error.outcome() == call_outcome::not_run ? "not run" : "may have run") << '\n';
  }
  std::cout << std::boolalpha << "the solver stopped early: " << ended_early(running) << '\n';

  // One token for many calls, with a deadline or without.
  std::stop_source source;
  auto first = offload::async(offload::within(1, 60s, source.get_token()), fn<&solve>, 60'000);
  source.request_stop();
  std::cout << "by a token: " << ended_early(first) << '\n';

  auto outer = offload::async(offload::stoppable(1), fn<&solve_over_there>, node_t{0}, 60'000);
  std::this_thread::sleep_for(20ms);
  outer.request_stop(offload::when_stopped::at_once);  // does not wait for what the function does about it
  std::cout << "what it called stopped, too: " << ended_early(outer) << '\n';
}
