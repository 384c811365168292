// ham-bench graphs: replays of recorded graphs, beside the calls that they take the place of.
#include "benchmarks.hpp"

#include <ham/offload/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v0::bench {

namespace {

constexpr int stages = 8;
constexpr std::int64_t iterations = 100;

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
  const char* name;
  const char* floor;
  double limit;  ///< 0: no bar
  paired_rounds rounds{};
};

void add_row(table& to, const contest& what, report& result) {
  const comparison cost = what.rounds.compared();
  auto& row = to.rows.emplace_back();
  row.emplace_back(what.name);
  add_median(row, cost, 1000, 3);
  row.insert(row.end(), {{what.floor}, {cost.floor / 1000, 3}, {cost.median_of_ratios, 3}});
  if (what.limit == 0) return;
  result.bars.push_back(
      {std::string(what.name) + " / " + what.floor, cost.median_of_ratios, bar::direction::at_most, what.limit, ""});
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

}  // namespace

report run_graphs(const settings& how) {
  const bool have_cores = how.all_cores.size() >= 3;  // for each node one
  const auto job = start_job(how, 2, have_cores ? pinning::by_default : pinning::two_cores);
  replay on_one = chain_over(1, stages);
  replay over_two = chain_over(2, stages);
  replay loop = loop_on(1);
  contest contests[] = {{"8 dependent calls on one target, replayed", "one sync", 2},
                        {"8 dependent calls over two targets, replayed", "8 syncs", have_cores ? 0.65 : 0},
                        {"100 iterations of a repeat", "100 syncs", 1}};
  const auto time = [&how](auto what) { return time_block(what, how.plan()); };
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        contests[0].rounds, round, [&] { return time([] { call_one_by_one(1, 1); }); },
        [&] { return time([&] { static_cast<void>(on_one(0).get()); }); });
    take_round(
        contests[1].rounds, round, [&] { return time([] { call_one_by_one(2, stages); }); },
        [&] { return time([&] { static_cast<void>(over_two(0).get()); }); });
    take_round(
        contests[2].rounds, round, [&] { return time([] { drive_loop(1); }); },
        [&] { return time([&] { static_cast<void>(loop(0).get()); }); });
  }
  report result{"graphs", {}, {}, {}};
  table found{"replays of recorded graphs; floor: the same calls, one by one", {"graph"}, {}};
  add_median_columns(found.columns, "time per replay", "us");
  found.columns.insert(found.columns.end(), {"floor", "floor us", "ratio"});
  for (const contest& one : contests) add_row(found, one, result);
  result.tables.push_back(std::move(found));
  if (!have_cores)
    result.remarks.emplace_back(
        "both targets share a core: a message between them takes a switch of processes, and no bar "
        "is set for that");
  return result;
}

}  // namespace ham::bench
