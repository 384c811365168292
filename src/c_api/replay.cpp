// Graphs of programs in C that are compiled, and their replays.
#include "c_api/replay.hpp"

#include <chrono>
#include <cstring>
#include <map>
#include <typeinfo>
#include <utility>

#include "c_api/status.hpp"
#include "ham/error.hpp"
#include "ham/offload/destination.hpp"

namespace of_graph = ham::offload::detail;

namespace ham::inline v1::c_api {
namespace {

constexpr std::size_t usual_in_flight = 8;

/// Throws ham::call_error unless the nodes have the functions as they were recorded. All are asked at once.
void check_functions(const ham_graph& graph) {
  std::map<std::pair<ham_node, std::string>, offload::future<bytes>> asked;
  std::map<std::pair<ham_node, std::string>, std::string> known;
  for (const named_stage& one : graph.calls()) {
    const std::pair<ham_node, std::string> which(one.node, one.name);
    if (asked.contains(which)) continue;
    asked.emplace(which, start_call(bounded(one.node, -1), "ham.layout", std::as_bytes(std::span(one.name))));
  }
  for (const named_stage& one : graph.calls()) {
    const std::pair<ham_node, std::string> which(one.node, one.name);
    const std::string who = graph.describe(one.number) + " of a graph: ";
    try {
      if (const auto answer = asked.find(which); answer->second.valid()) {
        const bytes text = answer->second.get();
        known[which].assign(reinterpret_cast<const char*>(text.data()), text.size());
      }
    } catch (const call_error& problem) {
      throw call_error(who + problem.what(), problem.reason());
    }
    if (known[which] != one.layout)
      throw call_error(who + "\"" + one.name + "\" is " + known[which] + " on node " + std::to_string(one.node) +
                       ", and was recorded as " + one.layout);
  }
}

of_graph::replay_options options_of(std::int64_t timeout_ms) {
  of_graph::replay_options how;
  if (timeout_ms >= 0 && timeout_ms != HAM_STOPPABLE) {
    const std::int64_t deadline_ns = of_graph::time_from_now(std::chrono::milliseconds(timeout_ms));
    how.deadline_ns = deadline_ns == INT64_MAX ? 0 : deadline_ns;
  }
  return how;
}

}  // namespace
}  // namespace ham::c_api

ham_compiled_graph::ham_compiled_graph(const ham_graph& graph, ham_stage result, std::size_t in_flight) {
  graph.require_stage(result);
  graph.require_complete();
  ham::c_api::check_functions(graph);
  state_ =
      of_graph::compile_graph(graph.recording(), result,
                              {&ham::c_api::keep_bytes, in_flight == 0 ? ham::c_api::usual_in_flight : in_flight, {}});
}

ham_compiled_graph::~ham_compiled_graph() { of_graph::close_graph(*state_); }

ham::offload::future<ham::c_api::bytes> ham_compiled_graph::start(std::span<const ham_argument> inputs,
                                                                  std::int64_t timeout_ms) {
  std::vector<std::size_t> sizes;
  for (const ham_argument& one : inputs) {
    if (one.stage != HAM_NO_STAGE) throw ham::c_api::bad_argument{"a replay is given a stage for one of its inputs"};
    sizes.push_back(ham::c_api::bytes_of(one).size());
  }
  const std::vector<const std::type_info*> types(inputs.size(), &typeid(ham::c_api::bytes));
  of_graph::check_inputs(*state_, types);
  const of_graph::replay_options how = ham::c_api::options_of(timeout_ms);
  const of_graph::replay_ticket entered = of_graph::enter_replay(*state_, how, sizes);
  if (entered.number != 0) {
    of_graph::entered_replay replay(*state_, entered);
    std::byte* at = entered.inputs;
    for (const ham_argument& one : inputs) {
      at += of_graph::replay_ticket::head_bytes;
      if (one.size != 0) std::memcpy(at, one.bytes, one.size);
      at += one.size;
    }
    replay.send();
  }
  return of_graph::future_access::make<ham::c_api::bytes>(entered.slot);
}

int ham_graph_compile(ham_graph* graph, ham_stage result, size_t in_flight, ham_compiled_graph** compiled) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(compiled, "the place of the compiled graph");
    *compiled = nullptr;
    ham::c_api::require(graph, "the graph");
    *compiled = new ham_compiled_graph(*graph, result, in_flight);
    return HAM_OK;
  });
}

void ham_compiled_graph_release(ham_compiled_graph** compiled) {
  if (compiled != nullptr) delete std::exchange(*compiled, nullptr);
}

int ham_graph_replay(ham_compiled_graph* compiled, const ham_argument* inputs, size_t count, int64_t timeout_ms,
                     ham_future** future) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(future, "the place of the future");
    *future = nullptr;
    ham::c_api::require(compiled, "the compiled graph");
    if (count != 0) ham::c_api::require(inputs, "the list of inputs");
    *future = new ham_future(compiled->start({inputs, count}, timeout_ms));
    return HAM_OK;
  });
}
