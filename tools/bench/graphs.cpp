// ham-bench graphs: replays of recorded graphs, beside the calls that they take the place of.
#include "benchmarks.hpp"

#include "allocations.hpp"
#include "chain_targets.hpp"
#include "conjugate_gradients.hpp"
#include "spread.hpp"

#include <ham/offload/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr int stages = 8;
constexpr std::int64_t iterations = 100;
constexpr std::size_t cg_rows = 200;  ///< which take 100 iterations

std::uint64_t graph_step(std::uint64_t value) { return value + 1; }
bool graph_ends(std::uint64_t value) { return value % iterations == 0; }

using replay = offload::compiled_graph<std::uint64_t, std::uint64_t>;

/// So many dependent calls, the i-th on the i-th of the targets, over and over.
replay chain_over(int targets, int length) {
  offload::graph g;
  auto in = g.input<std::uint64_t>();
  auto at = g.call(1, fn<&graph_step>, in);
  for (int i = 1; i < length; ++i) at = g.call(i % targets + 1, fn<&graph_step>, at);
  return g.compile(at, in);
}

replay loop_on(node_t target) {
  offload::graph g;
  auto in = g.input<std::uint64_t>();
  auto last = g.repeat(
      in, [&](offload::graph_value<std::uint64_t> value) { return g.call(target, fn<&graph_step>, value); },
      fn<&graph_ends>);
  return g.compile(last, in);
}

struct contest {
  std::string name;
  std::string floor;
  double limit;  ///< 0: no bar
  std::function<void()> by_graph;
  std::function<void()> by_host;
  std::size_t group = block_plan{}.group;
  paired_rounds rounds{};
  double allocations = 0;  ///< of all nodes, for a replay
};

void add_row(table& to, const contest& what, report& result) {
  const comparison cost = what.rounds.compared();
  auto& row = to.rows.emplace_back();
  row.emplace_back(what.name);
  add_median(row, cost, 1000, 3);
  row.emplace_back(what.floor);
  add_floor(row, cost, 1000, 3);
  add_ratio(row, cost, 3);
  row.emplace_back(what.allocations, 2);
  if (what.limit == 0) return;
  result.bars.push_back(
      {what.name + " / " + what.floor, cost.median_of_ratios, bar::direction::at_most, what.limit, ""});
}

void call_one_by_one(int targets, int length) {
  std::uint64_t value = 0;
  for (int i = 0; i < length; ++i) value = offload::sync(i % targets + 1, fn<&graph_step>, value);
}

void drive_loop(node_t target) {
  std::uint64_t value = 0;
  do value = offload::sync(target, fn<&graph_step>, value);
  while (!graph_ends(value));
}

/// Conjugate gradients whose two ways give the same, or std::runtime_error.
std::int64_t checked_iterations(conjugate_gradients& system) {
  constexpr double max_error = 1e-6;
  const std::int64_t by_graph = system.solve_by_graph();
  const double error_of_graph = system.max_error();
  const std::int64_t by_host = system.solve_by_host();
  if (by_graph != by_host || !(error_of_graph < max_error) || !(system.max_error() < max_error))
    throw std::runtime_error("conjugate gradients: " + std::to_string(by_graph) +
                             " iterations by a graph, with an error of " + std::to_string(error_of_graph) + ", and " +
                             std::to_string(by_host) + " by the host, with one of " +
                             std::to_string(system.max_error()));
  return by_graph;
}

/// That this process sends while `what` runs.
template <class What>
std::uint64_t messages_of_host(What what) {
  const std::uint64_t before = offload::stats().calls_sent;
  what();
  return offload::stats().calls_sent - before;
}

std::uint64_t graph_messages_sent() { return offload::stats().calls_sent; }

/// What the targets 1 to `targets` have sent. They send nothing for this question.
std::uint64_t graph_messages_of_targets(int targets) {
  std::uint64_t sum = 0;
  for (node_t node = 1; node <= targets; ++node) sum += offload::sync(node, fn<&graph_messages_sent>);
  return sum;
}

/// Of a chain each message waits for the one before: all of them are on the critical path.
void add_chain_messages(report& result, const std::vector<std::pair<int, replay*>>& chains) {
  constexpr std::uint64_t replays = 100;
  table found{"messages of a replay of 8 dependent calls, each of which waits for the one before",
              {"over", "by the host", "by targets", "with the result"},
              {}};
  for (const auto& [targets, chain] : chains) {
    const std::uint64_t before = graph_messages_of_targets(targets);
    const std::uint64_t by_host = messages_of_host([replay = chain] {
      for (std::uint64_t i = 0; i < replays; ++i) static_cast<void>((*replay)(0).get());
    });
    const std::uint64_t by_targets = graph_messages_of_targets(targets) - before;
    constexpr std::uint64_t result_message = 1;  // which is not counted as one that is sent
    const double all = static_cast<double>(by_host + by_targets) / replays + result_message;
    const std::string over = std::to_string(targets) + (targets == 1 ? " target" : " targets");
    found.rows.push_back(
        {over, {static_cast<double>(by_host) / replays, 2}, {static_cast<double>(by_targets) / replays, 2}, {all, 2}});
    result.bars.push_back({"messages one behind the other, 8 calls over " + over, all, bar::direction::at_most,
                           targets == 1 ? 2. : stages + 1., ""});
  }
  result.tables.push_back(std::move(found));
}

/// Solves of 10 and of 100 iterations over two targets.
void add_messages(report& result, conjugate_gradients& large) {
  conjugate_gradients small(2, cg_rows / 20);
  table found{"messages that the host sends for a solve by conjugate gradients over two targets",
              {"iterations", "by a graph", "by a loop of the host"},
              {}};
  std::vector<std::uint64_t> by_graph;
  for (conjugate_gradients* const system : {&small, &large}) {
    const std::int64_t iterations = checked_iterations(*system);
    by_graph.push_back(messages_of_host([&] { static_cast<void>(system->solve_by_graph()); }));
    found.rows.push_back({count(iterations), count(by_graph.back()),
                          count(messages_of_host([&] { static_cast<void>(system->solve_by_host()); }))});
  }
  result.tables.push_back(std::move(found));
  result.bars.push_back({"messages of the host, of 100 iterations more than of 10",
                         static_cast<double>(by_graph[1]) - static_cast<double>(by_graph[0]), bar::direction::at_most,
                         0, ""});
}

}  // namespace

report run_graphs(const settings& how) {
  const std::size_t cores = how.all_cores.size();
  const int targets = chain_targets(cores, how.max_targets);
  const bool chain_has_cores = cores_suffice(cores, targets), pair_has_cores = cores_suffice(cores, 2);
  const auto job = start_job(how, targets, pair_has_cores ? pinning::by_default : pinning::two_cores);
  replay on_one = chain_over(1, stages);
  replay over_all = chain_over(targets, stages);
  replay loop = loop_on(1);
  conjugate_gradients alone(1, cg_rows), shared(2, cg_rows / 2);
  static_cast<void>(checked_iterations(alone));
  constexpr std::size_t few = 4;  // a solve takes hundreds of calls
  const std::string over = "8 dependent calls over " + std::to_string(targets) + " targets, replayed";
  contest contests[] = {
      {"8 dependent calls on one target, replayed", "one sync", 2, [&] { static_cast<void>(on_one(0).get()); },
       [] { call_one_by_one(1, 1); }},
      {over, "8 syncs", chain_has_cores ? 0.65 : 0, [&] { static_cast<void>(over_all(0).get()); },
       [targets] { call_one_by_one(targets, stages); }},
      {"100 iterations of a repeat", "100 syncs", 1, [&] { static_cast<void>(loop(0).get()); }, [] { drive_loop(1); }},
      {"conjugate gradients on one target, 100 iterations", "a loop of the host", 1,
       [&] { static_cast<void>(alone.solve_by_graph()); }, [&] { static_cast<void>(alone.solve_by_host()); }, few},
      {"conjugate gradients over two targets, 100 iterations", "a loop of the host over both", pair_has_cores ? 1. : 0,
       [&] { static_cast<void>(shared.solve_by_graph()); }, [&] { static_cast<void>(shared.solve_by_host()); }, few}};
  for (int round = 0; round < how.repetitions; ++round) {
    for (contest& one : contests) {
      block_plan plan = how.plan();
      plan.group = one.group;
      take_round(
          one.rounds, round, [&] { return time_block(one.by_host, plan); },
          [&] { return time_block(one.by_graph, plan); });
    }
  }
  report result{"graphs", {}, {}, {}};
  table found{"replays of recorded graphs; floor: the same calls, one by one", {"graph"}, {}};
  add_median_columns(found.columns, "time per replay", "us");
  found.columns.emplace_back("floor");
  add_median_columns(found.columns, "floor", "us");
  add_spread_columns(found.columns, "ratio");
  found.columns.emplace_back("allocations");
  double max_allocations = 0;
  for (contest& one : contests) {
    one.allocations = allocations_per_call(targets, how.repetitions, one.group == few ? 5 : 200, one.by_graph);
    max_allocations = std::max(max_allocations, one.allocations);
    add_row(found, one, result);
  }
  result.tables.push_back(std::move(found));
  result.bars.push_back(
      {"allocations of a replay, all nodes, the most of these", max_allocations, bar::direction::at_most, 0, ""});
  add_chain_messages(result, {{1, &on_one}, {targets, &over_all}});
  add_messages(result, shared);
  result.remarks.emplace_back("the chain goes over " + std::to_string(targets) + " targets: this process may use " +
                              std::to_string(cores) + " core(s)");
  if (!chain_has_cores)
    result.remarks.emplace_back(
        "targets share a core: a message between them takes a switch of processes, and no bar is set for the time of "
        "the chain" +
        std::string(pair_has_cores ? "" : " and of conjugate gradients over two"));
  return result;
}

}  // namespace ham::bench
