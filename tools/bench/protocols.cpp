// ham-bench protocols.
#include "benchmarks.hpp"
#include "link_floor.hpp"
#include "paper_link.hpp"
#include "phases.hpp"
#include "spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

constexpr link_model target_initiated{};
constexpr link_model host_initiated{true, true, 1200, 600, 0};

struct link_cost {
  paired_rounds rounds;
  double round_trip_ns = 0;
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
                     {found.floor_low, 0},
                     {found.floor_high, 0},
                     {found.median_difference, 0},
                     {range{found.difference_low, found.difference_high}, 0},
                     {found.median_of_ratios, 3},
                     quartiles_of_ratio(found),
                     {cost.round_trip_ns, 0}});
}

void compare_both(report& result, const settings& how) {
  table costs{
      "empty offload over the emulated link of paper 1 (1.2 us round trip); floor: the bare exchange over the same "
      "link",
      {"protocol", "HAM ns", "quartile 1 HAM ns", "quartile 3 HAM ns", "floor ns", "quartile 1 floor ns",
       "quartile 3 floor ns", "over floor ns", "over floor ns: quartiles", "ratio", "quartiles", "link round trip ns"},
      {}};
  const link_cost target = measure(how, target_initiated, how.repetitions);
  add_row(costs, "target-initiated (Fig. 8)", target);
  add_row(costs, "host-initiated (Fig. 5)", measure(how, host_initiated, how.repetitions));
  result.tables.push_back(std::move(costs));
  result.bars.push_back({"target-initiated: cost over the floor / floor",
                         100 * (target.rounds.compared().median_of_ratios - 1), bar::direction::at_most, 10, "%"});
}

comparison figure_9(report& result, const settings& how) {
  const comparison veo = measure(how, paper_veo_link, std::min(how.repetitions, 3)).rounds.compared();
  const comparison dma = measure(how, paper_dma_link, how.repetitions).rounds.compared();
  table ratios{
      "emulated link, paper 1, Fig. 9 (PCIe: the paper's 1.2 us; fitted to its times: 108 us a VEO transfer, 1.25 us "
      "DMA set-up)",
      {"empty offload", "paper us"},
      {}};
  add_median_columns(ratios.columns, "here", "us");
  add_median_columns(ratios.columns, "floor", "us");
  ratios.columns.emplace_back("paper: of native");
  add_spread_columns(ratios.columns, "here: of native");
  const auto row = [&](const char* name, double paper, const comparison& here) {
    auto& cells = ratios.rows.emplace_back(std::vector<cell>{name, {paper, 1}});
    add_median(cells, here, 1000, 2);
    add_floor(cells, here, 1000, 2);
    cells.emplace_back(paper / native_us, 3);
    add_scaled(cells, 1e-3 / native_us, here.measured, {here.measured_low, here.measured_high}, 3);
  };
  auto& native = ratios.rows.emplace_back(std::vector<cell>{"VEO, native call (not measured)", {native_us, 1}});
  native.insert(native.end(), 6, no_number());
  native.emplace_back(1.0, 3);
  native.insert(native.end(), 2, no_number());
  row("HAM over VEO, host-initiated", paper_veo * paper_dma_us, veo);
  row("HAM over DMA, target-initiated", paper_dma_us, dma);
  result.tables.push_back(std::move(ratios));
  const double veo_us = veo.measured / 1000;
  const double dma_us = dma.measured / 1000;
  result.bars.push_back(
      {"HAM over VEO / native call, away from the paper's 5.4 (tests the number of transfers: their time is fitted)",
       100 * std::abs(veo_us / native_us / 5.4 - 1), bar::direction::at_most, 15, "%"});
  result.bars.push_back(
      {"native call / HAM over DMA, away from the paper's 13.1 (tests the number of transfers: their time is fitted)",
       100 * std::abs(native_us / dma_us / paper_native - 1), bar::direction::at_most, 15, "%"});
  result.remarks.push_back(
      "a VEO transfer of 108 us and a DMA set-up of 1.25 us are chosen so that as many of them as HAM's protocols "
      "take give the paper's times: what is compared is the number and order of transfers");
  result.remarks.push_back(
      "the native call of Fig. 9 is the paper's figure, not a measurement (ham-bench veo-offload measures that of "
      "libveo); both kinds of link are emulated, the messages and "
      "their number are HAM's");
  return dma;
}

/// A point of a sweep, which has many: three rounds at most, of a third of the length.
comparison swept(settings how, const link_model& link) {
  const int rounds = std::min(how.repetitions, 3);
  how.block_ms /= 3;
  return measure(how, link, rounds).rounds.compared();
}

/// -1, 1: less or more, and the quartiles do not overlap; else 0.
int order(const comparison& left, const comparison& right) {
  if (left.measured_high < right.measured_low) return -1;
  return left.measured_low > right.measured_high ? 1 : 0;
}

void sweep_latencies(report& result, const settings& how) {
  table sweep{"both protocols over one and the same emulated link with posted writes", {"read us", "write us"}, {}};
  for (const char* name : {"target-initiated", "host-initiated"}) add_median_columns(sweep.columns, name, "us");
  add_spread_columns(sweep.columns, "target / host");
  sweep.columns.emplace_back("wins");
  for (const std::int64_t read : {600, 1200, 2400, 4800, 9600}) {
    for (const std::int64_t quarters : {1, 2, 4}) {
      const std::int64_t write = read * quarters / 4;
      const comparison target = swept(how, {false, true, read, write, 0});
      const comparison host = swept(how, {true, true, read, write, 0});
      auto& row = sweep.rows.emplace_back(
          std::vector<cell>{{static_cast<double>(read) / 1000, 1}, {static_cast<double>(write) / 1000, 2}});
      add_median(row, target, 1000, 2);
      add_median(row, host, 1000, 2);
      add_quotient(row, target, host, 2);
      constexpr std::array<const char*, 3> winners{"target", "neither", "host"};
      row.emplace_back(winners.at(static_cast<std::size_t>(1 + order(target, host))));
    }
  }
  result.tables.push_back(std::move(sweep));
}

/// What HAM is faster than, and what is within the spread: their names, or "neither".
struct verdict {
  std::string faster_than;
  std::string within_spread;
};

verdict judged(const comparison& ham, const comparison& dma) {
  comparison native{};  // the paper gives no spread
  native.measured = native.measured_low = native.measured_high = native_us * 1000;
  const auto names_of = [&](int wanted) -> std::string {
    const bool is_native = order(ham, native) == wanted;
    const bool is_dma = order(ham, dma) == wanted;
    if (is_native && is_dma) return "both";
    return is_native ? "the native call" : is_dma ? "the DMA protocol" : "neither";
  };
  return {names_of(-1), names_of(0)};
}

void sweep_operations(report& result, const settings& how, const comparison& dma) {
  table sweep{
      "emulated link, host-initiated with blocking transfers of L each, beside the paper's native call and DMA "
      "protocol",
      {"L us"},
      {}};
  add_median_columns(sweep.columns, "HAM", "us");
  for (const char* name : {"L multiples", "of native call", "of DMA protocol"}) add_spread_columns(sweep.columns, name);
  sweep.columns.insert(sweep.columns.end(), {"beats", "within the spread"});
  for (const std::int64_t latency : {500, 1000, 1500, 2000, 5000, 10'000, 20'000, 50'000, 108'000}) {
    const comparison host = swept(how, {true, false, latency, latency, 0});
    auto& row = sweep.rows.emplace_back(std::vector<cell>{{static_cast<double>(latency) / 1000, 1}});
    add_median(row, host, 1000, 1);
    const verdict found = judged(host, dma);
    const range quartiles{host.measured_low, host.measured_high};
    add_scaled(row, 1 / static_cast<double>(latency), host.measured, quartiles, 2);
    add_scaled(row, 1e-3 / native_us, host.measured, quartiles, 3);
    add_quotient(row, host, dma, 3);
    row.insert(row.end(), {found.faster_than, found.within_spread});
  }
  result.tables.push_back(std::move(sweep));
}

}  // namespace

report run_protocols(const settings& how) {
  report result{"protocols", {}, {}, {}};
  compare_both(result, how);
  const comparison dma = figure_9(result, how);
  sweep_latencies(result, how);
  sweep_operations(result, how, dma);
  result.remarks.push_back(
      "sweeps: three rounds of each, one link after the other; one of two wins, or is beaten, only if the quartiles do "
      "not overlap; those of a quotient: the widest that the quartiles of both allow");
  if (!how.cores.distinct()) {
    result.remarks.push_back("one core only: host and target take turns, the ratios say little");
  }
  return result;
}

}  // namespace ham::bench
