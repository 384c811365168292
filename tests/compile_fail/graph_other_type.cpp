// expect: ham: the result of the earlier stage, or the input, has another type than this parameter
#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

int truncated(double value) { return static_cast<int>(value); }
double half(double value) { return value / 2; }

void record(ham::offload::graph& g) {
  auto in = g.input<double>();
  g.call(1, ham::fn<&half>, g.call(2, ham::fn<&truncated>, in));
}
