// Recorded graph: calls that depend on each other are recorded once, then replayed with one message.
// expect: ^0\.1: 30\.6$
// expect: ^0\.2: 31\.2$
// expect: ^messages of the host for 100 replays: 100$
// expect: ^square root of 2, iterated on the targets: 1\.41421$
// expect: ^stage 2 \(solve\) failed: not positive$
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

#include <cmath>
#include <iostream>
#include <stdexcept>
#include <vector>

using namespace ham;

double assemble(double dt) { return 2 * dt; }
double solve(double system, offload::buffer_ptr<double> rhs) {
  if (system <= 0) throw std::domain_error("not positive");
  return system + rhs[0];
}
double update(double solution, offload::buffer_ptr<double> weights) { return solution * weights[0]; }
double newton(double x) { return 0.5 * (x + 2 / x); }
bool converged(double x) { return std::abs(x * x - 2) < 1e-12; }

int main() {
  const std::vector<double> right_hand_side{10};
  std::vector<double> weights{3};
  offload::buffer<double> rhs(2, 1), target_weights(1, 1);
  offload::put(right_hand_side, rhs).get();

  // Nothing runs while a graph is recorded. Results go from target to target.
  offload::graph g;
  auto dt = g.input<double>();
  auto system = g.call(1, fn<&assemble>, dt);
  auto solution = g.call(2, fn<&solve>, system, rhs.ptr()).name("solve");
  auto sent = g.put(weights, target_weights);  // in every replay anew, beside the other two
  auto result = g.call(1, fn<&update>, solution, target_weights.ptr()).after(sent);
  auto step = g.compile(result);  // checked, and known to its nodes from here on

  std::cout << "0.1: " << step(0.1).get() << "\n0.2: " << step(0.2).get() << '\n';

  // Several replays may be in flight. Without a put the host sends one message for each.
  offload::graph calls_only;
  auto x = calls_only.input<double>();
  auto chain = calls_only.compile(calls_only.call(2, fn<&assemble>, calls_only.call(1, fn<&assemble>, x)), x);
  const auto before = offload::stats().calls_sent;
  std::vector<offload::future<double>> running;
  for (int i = 0; i < 100; ++i) running.push_back(chain(i));
  for (auto& one : running) one.get();
  std::cout << "messages of the host for 100 replays: " << offload::stats().calls_sent - before << '\n';

  // An iteration runs without the host until it has converged.
  offload::graph iteration;
  auto root = iteration.repeat(
      1.0, [&](offload::graph_value<double> guess) { return iteration.call(1, fn<&newton>, guess); }, fn<&converged>);
  std::cout << "square root of 2, iterated on the targets: " << iteration.compile(root)().get() << '\n';

  // A failure names its stage.
  try {
    static_cast<void>(step(-1.0).get());
  } catch (const stage_error& failed) {
    try {
      std::rethrow_exception(failed.cause());
    } catch (const std::domain_error& cause) {
      std::cout << "stage " << failed.stage() << " (" << failed.name() << ") failed: " << cause.what() << '\n';
    }
  }
}
