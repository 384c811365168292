// expect: ham: an input of a graph owns what it holds
#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

#include <span>

void record(ham::offload::graph& g) { static_cast<void>(g.input<std::span<const double>>()); }
