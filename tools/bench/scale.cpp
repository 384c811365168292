// ham-bench scale.
#include "benchmarks.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

std::vector<int> target_counts(int most) {
  std::vector<int> counts;
  for (const int count : {1, 10, 50, 100, 200}) {
    if (count < most) counts.push_back(count);
  }
  counts.push_back(most);
  return counts;
}

}  // namespace

report run_scale(const settings& how) {
  const std::vector<int> counts = target_counts(how.max_targets > 0 ? how.max_targets : 200);
  std::vector<paired_rounds> found(counts.size());
  report result{"scale", {}, {}, {}};
  for (int round = 0; round < how.repetitions; ++round) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      session with(how, counts[i]);
      take_round(
          found[i], round, [&] { return with.bounce(); },
          [&] { return time_block([] { offload::sync(1, fn<&nothing>); }, how.plan()); });
      if (round + 1 == how.repetitions && i + 1 == counts.size()) with.add_remarks(result);
    }
  }

  table times{"empty sync to target 1 while the other targets are connected and idle; floor: a cache line bounced",
              {"targets", "typical ns", "quartile 1 typical ns", "quartile 3 typical ns", "p99 ns", "floor ns", "ratio",
               "quartiles", "ratio / that with 1"},
              {}};
  std::vector<double> alone;
  for (std::size_t round = 0; round < found.front().measured.size(); ++round) {
    alone.push_back(found.front().measured[round] / found.front().floor[round]);
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const comparison one = found[i].compared();
    std::vector<double> ratios;
    for (std::size_t round = 0; round < alone.size(); ++round) {
      ratios.push_back(found[i].measured[round] / found[i].floor[round]);
    }
    const double growth = compare(ratios, alone).median_of_ratios;
    times.rows.push_back({count(counts[i]),
                          {one.measured, 1},
                          {one.measured_low, 1},
                          {one.measured_high, 1},
                          {quantile(found[i].singles, 0.99), 0},
                          {one.floor, 1},
                          {one.median_of_ratios, 3},
                          quartiles_of_ratio(one),
                          {growth, 3}});
    if (counts[i] == 200) {
      result.bars.push_back({"latency with 200 idle targets / with 1, both over their floors", growth,
                             bar::direction::at_most, 1.15, ""});
    }
  }
  result.tables.push_back(std::move(times));
  return result;
}

}  // namespace ham::bench
