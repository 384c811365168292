// ham-bench protocols.
#include "benchmarks.hpp"
#include "link_floor.hpp"
#include "paper_link.hpp"
#include "phases.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr link_model target_initiated{};
constexpr link_model host_initiated{true, true, 1200, 600, 0};

struct link_cost {
  paired_rounds rounds;
  double round_trip_ns = 0;

  [[nodiscard]] double us() const { return rounds.compared().measured / 1000; }
};

/// Empty calls over a link, and the bare exchange over the same link on the same cores.
link_cost measure(const settings& how, const link_model& link, int rounds) {
  settings over = how;
  over.transport = "emulated";
  over.link = link.settings();
  block_plan plan = how.plan();
  const bool slow = link.read_ns > 20'000;
  plan.group = slow ? 4 : 64;
  phases when(slow ? 0 : link.read_ns);
  link_cost result;
  session with(over);
  link_floor floor(link, how.cores);
  for (int round = 0; round < rounds; ++round) {
    take_round(
        result.rounds, round,
        [&] {
          with.let_targets_sleep();
          return floor.exchange(plan, when);
        },
        [&] { return when.time([] { offload::sync(1, fn<&nothing>); }, plan); });
  }
  result.round_trip_ns = floor.round_trip(plan).typical_ns;
  return result;
}

void add_row(table& to, const std::string& name, const link_cost& cost) {
  const comparison found = cost.rounds.compared();
  to.rows.push_back({name,
                     {found.measured, 0},
                     {found.measured_low, 0},
                     {found.measured_high, 0},
                     {found.floor, 0},
                     {found.median_difference, 0},
                     {found.median_of_ratios, 3},
                     quartiles_of_ratio(found),
                     {cost.round_trip_ns, 0}});
}

void compare_both(report& result, const settings& how) {
  table costs{
      "empty offload over the emulated link of paper 1 (1.2 us round trip); floor: the bare exchange over the same "
      "link",
      {"protocol", "HAM ns", "quartile 1 HAM ns", "quartile 3 HAM ns", "floor ns", "over floor ns", "ratio",
       "quartiles", "link round trip ns"},
      {}};
  const link_cost target = measure(how, target_initiated, how.repetitions);
  add_row(costs, "target-initiated (Fig. 8)", target);
  add_row(costs, "host-initiated (Fig. 5)", measure(how, host_initiated, how.repetitions));
  result.tables.push_back(std::move(costs));
  result.bars.push_back({"target-initiated: cost over the floor / floor",
                         100 * (target.rounds.compared().median_of_ratios - 1), bar::direction::at_most, 10, "%"});
}

double figure_9(report& result, const settings& how) {
  const comparison veo = measure(how, paper_veo_link, std::min(how.repetitions, 3)).rounds.compared();
  const comparison dma = measure(how, paper_dma_link, how.repetitions).rounds.compared();
  table ratios{
      "emulated link, paper 1, Fig. 9, with the paper's latencies (108 us a VEO transfer; 1.2 us PCIe, 1.25 us DMA "
      "set-up)",
      {"empty offload", "paper us"},
      {}};
  add_median_columns(ratios.columns, "here", "us");
  ratios.columns.insert(ratios.columns.end(), {"floor us", "paper: of native", "here: of native"});
  const auto row = [&](const char* name, double paper, const comparison& here) {
    auto& cells = ratios.rows.emplace_back(std::vector<cell>{name, {paper, 1}});
    add_median(cells, here, 1000, 2);
    cells.insert(cells.end(), {{here.floor / 1000, 2}, {paper / native_us, 3}, {here.measured / 1000 / native_us, 3}});
  };
  auto& native = ratios.rows.emplace_back(std::vector<cell>{"VEO, native call (not measured)", {native_us, 1}});
  native.insert(native.end(), 4, no_number());
  native.emplace_back(1.0, 3);
  native.push_back(no_number());
  row("HAM over VEO, host-initiated", paper_veo * paper_dma_us, veo);
  row("HAM over DMA, target-initiated", paper_dma_us, dma);
  result.tables.push_back(std::move(ratios));
  const double veo_us = veo.measured / 1000;
  const double dma_us = dma.measured / 1000;
  result.bars.push_back({"HAM over VEO / native call, away from the paper's 5.4",
                         100 * std::abs(veo_us / native_us / 5.4 - 1), bar::direction::at_most, 15, "%"});
  result.bars.push_back({"native call / HAM over DMA, away from the paper's 13.1",
                         100 * std::abs(native_us / dma_us / paper_native - 1), bar::direction::at_most, 15, "%"});
  result.remarks.push_back(
      "the native call of Fig. 9 is the paper's figure, not a measurement (ham-bench veo-offload measures that of "
      "libveo); both kinds of link are emulated, the messages and "
      "their number are HAM's");
  return dma_us;
}

void sweep_latencies(report& result, const settings& how) {
  table sweep{"both protocols over one and the same emulated link with posted writes",
              {"read us", "write us", "target-initiated us", "host-initiated us", "target / host", "wins"},
              {}};
  for (const std::int64_t read : {600, 1200, 2400, 4800, 9600}) {
    for (const std::int64_t quarters : {1, 2, 4}) {
      const std::int64_t write = read * quarters / 4;
      const double target = measure(how, {false, true, read, write, 0}, 1).us();
      const double host = measure(how, {true, true, read, write, 0}, 1).us();
      sweep.rows.push_back({{static_cast<double>(read) / 1000, 1},
                            {static_cast<double>(write) / 1000, 2},
                            {target, 2},
                            {host, 2},
                            {target / host, 2},
                            cell(target < host ? "target" : "host")});
    }
  }
  result.tables.push_back(std::move(sweep));
}

void sweep_operations(report& result, const settings& how, double dma) {
  table sweep{
      "emulated link, host-initiated with blocking transfers of L each, beside the paper's native call and DMA "
      "protocol",
      {"L us", "HAM us", "L multiples", "of native call", "of DMA protocol", "beats"},
      {}};
  for (const std::int64_t latency : {500, 1000, 1500, 2000, 5000, 10'000, 20'000, 50'000, 108'000}) {
    const double host = measure(how, {true, false, latency, latency, 0}, 1).us();
    sweep.rows.push_back({{static_cast<double>(latency) / 1000, 1},
                          {host, 1},
                          {host * 1000 / static_cast<double>(latency), 2},
                          {host / native_us, 3},
                          {host / dma, 3},
                          cell(host < dma         ? "both"
                               : host < native_us ? "the native call"
                                                  : "neither")});
  }
  result.tables.push_back(std::move(sweep));
}

}  // namespace

report run_protocols(const settings& how) {
  report result{"protocols", {}, {}, {}};
  compare_both(result, how);
  const double dma = figure_9(result, how);
  sweep_latencies(result, how);
  sweep_operations(result, how, dma);
  if (!how.cores.distinct()) {
    result.remarks.push_back("one core only: host and target take turns, the ratios say little");
  }
  return result;
}

}  // namespace ham::bench
