// ham-bench relay: a call between two targets that only the host connects, beside both hops made by hand.
#include "benchmarks.hpp"

#include "link_floor.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr node_t near_target = 1;
constexpr node_t far_target = 2;

/// Runs on the host: the second hop of a call that is passed on by hand.
void pass_on(node_t to) { offload::sync(to, fn<&nothing>); }

/// The two run on the first target.
block_times time_relayed(block_plan plan) {
  return time_block([] { offload::sync(far_target, fn<&nothing>); }, plan);
}
block_times time_by_hand(block_plan plan) {
  return time_block([] { offload::sync(0, fn<&pass_on>, far_target); }, plan);
}

/// Calls over such a link, and their two hops.
paired_rounds measure(const settings& how, const link_model& link) {
  settings over = how;
  over.transport = "emulated";
  over.link = link.settings();
  const auto job = start_job(over, 2, pinning::by_default);
  paired_rounds rounds;
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        rounds, round, [&] { return offload::sync(near_target, fn<&time_by_hand>, how.plan()); },
        [&] { return offload::sync(near_target, fn<&time_relayed>, how.plan()); });
  }
  return rounds;
}

}  // namespace

report run_relay(const settings& how) {
  report result{"relay", {}, {}, {}};
  table calls{
      "empty call between two targets behind emulated links, which the host passes on; two hops: the function called "
      "on the host, which calls the other target",
      {"link round trip us"},
      {}};
  add_median_columns(calls.columns, "relayed", "us");
  calls.columns.insert(calls.columns.end(), {"two hops us", "relayed / two hops", "quartiles"});
  for (const link_model& link :
       {link_model{false, true, 0, 0, 0}, link_model{}, link_model{false, true, 10'000, 5'000, 0}}) {
    const comparison cost = measure(how, link).compared();
    auto& row = calls.rows.emplace_back(std::vector<cell>{{static_cast<double>(link.read_ns) / 1000, 1}});
    add_median(row, cost, 1000, 2);
    row.insert(row.end(), {{cost.floor / 1000, 2}, {cost.median_of_ratios, 2}, quartiles_of_ratio(cost)});
    result.bars.push_back({"relayed / two hops, link of " + std::to_string(link.read_ns) + " ns", cost.median_of_ratios,
                           bar::direction::at_most, 2, "x"});
  }
  result.tables.push_back(std::move(calls));
  if (how.all_cores.size() < 3) {
    result.remarks.push_back("three nodes share " + std::to_string(how.all_cores.size()) +
                             " core(s): both figures contain the switches between them");
  }
  return result;
}

}  // namespace ham::bench
