// HAM_TRACE=run.pftrace: a trace of all nodes for ui.perfetto.dev, with the program's own spans and counters.
// expect: residual 0\.0[0-9]*
// env: HAM_NODES=shm:2
#include <ham/offload.hpp>
#include <ham/offload/trace.hpp>

#include <cmath>
#include <iostream>
#include <vector>

using namespace ham;

double step(double value) {
  const trace::span computing("cosine");
  return std::cos(value);
}

int main() {
  double residual = 1;
  double value = 1;
  while (residual > 1e-2) {
    const trace::span iteration("iteration");
    std::vector<future<double>> results;
    for (const node_t node : offload::targets()) results.push_back(offload::async(node, fn<&step>, value));
    double next = 0;
    for (auto& one : results) next += one.get() / static_cast<double>(results.size());
    residual = std::abs(next - value);
    value = next;
    trace::counter("residual", residual);
  }
  std::cout << "residual " << residual << '\n';
}
