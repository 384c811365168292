// ham-bench latency.
#include "benchmarks.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ham::bench {

namespace {

template <std::size_t Bytes>
void take_bytes(const std::array<std::byte, Bytes>&) {}

void take_span(std::span<const std::byte>) {}

struct call_case {
  std::string name;
  std::function<block_times()> measure;
  paired_rounds rounds;
};

template <std::size_t Bytes>
call_case fixed_case(const block_plan& plan) {
  return {"sync, " + std::to_string(Bytes) + " B",
          [plan] {
            const std::array<std::byte, Bytes> argument{};
            return time_block([&] { offload::sync(1, fn<&take_bytes<Bytes>>, argument); }, plan);
          },
          {}};
}

call_case span_case(std::size_t bytes, const block_plan& plan) {
  return {"sync, " + std::to_string(bytes) + " B (span)",
          [plan, argument = std::vector<std::byte>(bytes)] {
            const std::span<const std::byte> view(argument);
            return time_block([&] { offload::sync(1, fn<&take_span>, view); }, plan);
          },
          {}};
}

std::vector<call_case> all_cases(const block_plan& plan) {
  std::vector<call_case> cases;
  cases.push_back({"sync, empty", [plan] { return time_block([] { offload::sync(1, fn<&nothing>); }, plan); }, {}});
  cases.push_back(fixed_case<1>(plan));
  cases.push_back(fixed_case<8>(plan));
  cases.push_back(fixed_case<64>(plan));
  cases.push_back(fixed_case<1024>(plan));
  cases.push_back(span_case(65536, plan));
  return cases;
}

void add_percentiles(std::vector<cell>& row, std::vector<double> singles) {
  for (const double q : {0.5, 0.99, 0.999}) row.emplace_back(quantile_in_place(singles, q), 0);
}

}  // namespace

report run_latency(const settings& how) {
  session with(how);
  std::vector<call_case> cases = all_cases(how.plan());
  for (int round = 0; round < how.repetitions; ++round) {
    for (call_case& one : cases)
      take_round(
          one.rounds, round, [&] { return with.bounce(); }, one.measure);
  }

  report result{"latency", {}, {}, {}};
  table times{"one call and its answer; floor: a cache line bounced between two processes",
              {"call", "typical ns", "p50 ns", "p99 ns", "p99.9 ns", "floor ns", "ratio", "ratio of medians",
               "quartiles", "over floor ns"},
              {}};
  std::vector<double> floor_typical;
  std::vector<double> floor_singles;
  for (call_case& one : cases) {
    const comparison found = one.rounds.compared();
    std::vector<cell> row{one.name, {found.measured, 1}};
    add_percentiles(row, one.rounds.singles);
    row.insert(row.end(), {{found.floor, 1},
                           {found.median_of_ratios, 3},
                           {found.ratio_of_medians, 3},
                           cell(quartiles_text(found)),
                           {found.median_difference, 1}});
    times.rows.push_back(std::move(row));
    floor_typical.insert(floor_typical.end(), one.rounds.floor.begin(), one.rounds.floor.end());
    floor_singles.insert(floor_singles.end(), one.rounds.floor_singles.begin(), one.rounds.floor_singles.end());
  }
  std::vector<cell> floor_row{"floor", {median(floor_typical), 1}};
  add_percentiles(floor_row, std::move(floor_singles));
  floor_row.insert(floor_row.end(), {{median(floor_typical), 1}, {1.0, 3}, {1.0, 3}, cell("-"), {0.0, 1}});
  times.rows.push_back(std::move(floor_row));
  result.tables.push_back(std::move(times));

  const comparison empty = cases.front().rounds.compared();
  result.bars.push_back({"empty sync / cache-line bounce", empty.median_of_ratios, bar::direction::at_most, 1.20, ""});
  result.bars.push_back({"framework part of it", empty.median_difference, bar::direction::at_most, 60, "ns"});
  result.remarks.push_back(
      "ratio: median over the rounds of typical / floor taken side by side; typical: without the clock's "
      "own cost; percentiles: single calls");
  with.add_remarks(result);
  return result;
}

}  // namespace ham::bench
