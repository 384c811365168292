// ham-bench placement: what the way between host and target costs, for each kind of core pair that the machine has.
#include "benchmarks.hpp"
#include "topology.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

report run_placement(const settings& how) {
  report result{"placement", {}, {}, {}};
  table found{"empty sync for each kind of core pair; floor: a cache line bounced between the same two", {"cores"}, {}};
  found.columns.insert(found.columns.end(), {"host core", "target core"});
  add_median_columns(found.columns, "", "ns");
  add_median_columns(found.columns, "floor", "ns");
  found.columns.insert(found.columns.end(), {"over floor ns", "ratio", "quartiles"});

  const topology machine(how.all_cores);
  std::vector<core_pair> pairs;
  for (const pair_kind kind : machine.kinds()) pairs.push_back(*machine.find(kind));
  if (pairs.empty()) pairs.push_back(how.cores);
  for (const core_pair& cores : pairs) {
    settings here = how;
    here.cores = cores;
    pin_this_thread(how.all_cores);  // the session before has bound this thread
    session with(here);
    paired_rounds rounds;
    for (int round = 0; round < how.repetitions; ++round) {
      take_round(
          rounds, round, [&] { return with.bounce(); },
          [&] { return time_block([] { offload::sync(1, fn<&nothing>); }, how.plan()); });
    }
    const comparison one = rounds.compared();
    auto& row = found.rows.emplace_back(
        std::vector<cell>{description_of(machine.kind_of(cores)), count(cores.host), count(cores.target)});
    add_median(row, one, 1, 1);
    add_floor(row, one, 1, 1);
    row.insert(row.end(), {{one.median_difference, 1}, {one.median_of_ratios, 3}, quartiles_of_ratio(one)});
    with.add_remarks(result);
  }
  pin_this_thread(how.all_cores);
  result.tables.push_back(std::move(found));
  result.remarks.emplace_back("the first pair of each kind, of the CPUs that this process may use");
  return result;
}

}  // namespace ham::bench
