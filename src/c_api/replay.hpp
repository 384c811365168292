// A compiled graph of a program in C.
#pragma once

#include <memory>
#include <span>

#include "c_api/future.hpp"
#include "c_api/graph.hpp"

struct ham_compiled_graph {
 public:
  /// Throws what offload::graph::compile throws; ham::call_error for a layout that is not its function's there.
  ham_compiled_graph(const ham_graph& graph, ham_stage result, std::size_t in_flight);
  ham_compiled_graph(const ham_compiled_graph&) = delete;
  ham_compiled_graph& operator=(const ham_compiled_graph&) = delete;
  /// Waits until all replays have settled.
  ~ham_compiled_graph();

  /// Throws bad_argument, ham::call_error for inputs that are not the graph's, ham::node_failure.
  [[nodiscard]] ham::offload::future<ham::c_api::bytes> start(std::span<const ham_argument> inputs,
                                                              std::int64_t timeout_ms);

 private:
  std::shared_ptr<ham::offload::detail::graph_replays> state_;
};
