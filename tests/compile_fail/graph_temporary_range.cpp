// expect: ham: this range is a temporary, which has gone when the graph is replayed
#include <ham/offload.hpp>
#include <ham/offload/graph.hpp>

#include <vector>

void record(ham::offload::graph& g, ham::offload::buffer_ptr<double> to) { g.put(std::vector<double>(3), to); }
