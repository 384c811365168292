// Matrix products (paper 4, Fig. 4): GFLOP/s of 1 to n targets, beside as many threads of one process, and which part
// of their measured peak that is.
// args: --size 200 --repetitions 3 --peak-milliseconds 5
// expect: ^ *DGEMM +1 +[0-9.]+
// expect: ^ *SGEMM +1 +[0-9.]+
// expect: SGEMM on [0-9]+ targets? / on as many threads
// expect: ^  largest deviation, of what rounding allows +0\.[0-9]+ +\(<= 1\.00\)  ok$
#include <ham/offload.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "common/program.hpp"
#include "common/quartiles.hpp"
#include "common/targets.hpp"
#include "common/thread_team.hpp"
#include "gemm/product.hpp"

namespace {

namespace offload = ham::offload;
namespace bench = ham::bench;
using gemm::precision;

struct options : app::settings {
  std::uint64_t size = 1500;
  double peak_milliseconds = 200.0;
};

/// What all targets do together when they compute at the same time.
double peak_of(const std::vector<ham::node_t>& nodes, precision which, double milliseconds, std::string& unit) {
  double sum = 0.0;
  for (const gemm::peak_of_core& one : app::call_all(nodes.size(), [&](std::size_t i) {
         return offload::async(nodes[i], ham::fn<&gemm::peak_here>, which, milliseconds);
       })) {
    sum += one.gflops;
    unit = one.unit;
  }
  return sum;
}

struct found {
  std::vector<double> gflops;
  std::vector<double> threads, peaks;  ///< of the same rounds
  double deviation = 0.0;
};

template <class Number>
found measure(const std::vector<ham::node_t>& nodes, const options& chosen, std::string& unit) {
  constexpr precision which = sizeof(Number) == sizeof(double) ? precision::double_ : precision::single_;
  using product = gemm::product<Number>;
  std::vector<offload::remote<product>> there;
  for (const ham::node_t node : nodes) there.push_back(offload::make<product>(node, chosen.size));
  std::vector<std::unique_ptr<product>> here(nodes.size());
  app::thread_team threads(app::cores_of(nodes));
  threads.run([&](std::size_t i) { here[i] = std::make_unique<product>(chosen.size); });
  const auto size = static_cast<double>(chosen.size);
  const double flops = 2.0 * size * size * size * static_cast<double>(nodes.size());
  found result;
  for (int repetition = -1; repetition < chosen.repetitions; ++repetition) {  // the first one is not counted
    auto start = std::chrono::steady_clock::now();
    app::call_all(nodes.size(), [&](std::size_t i) { return there[i].template async<&product::run>(); });
    const double on_targets = app::seconds_since(start);
    start = std::chrono::steady_clock::now();
    threads.run([&](std::size_t i) { here[i]->run(); });
    const double on_threads = app::seconds_since(start);
    if (repetition >= 0) {
      result.gflops.push_back(flops / on_targets * 1e-9);
      result.threads.push_back(flops / on_threads * 1e-9);
      result.peaks.push_back(peak_of(nodes, which, chosen.peak_milliseconds / chosen.repetitions, unit));
    }
    for (const double deviation :
         app::call_all(nodes.size(), [&](std::size_t i) { return there[i].template async<&product::deviation>(); })) {
      result.deviation = std::max(result.deviation, deviation);
    }
    for (const auto& one : here) result.deviation = std::max(result.deviation, one->deviation());
  }
  return result;
}

app::outcome run(const options& chosen) {
  const std::vector<ham::node_t> nodes = app::chosen_targets(chosen);
  app::outcome result;
  bench::report& report = result.report;
  report.name = "gemm";
  bench::table table;
  table.title =
      "Matrix products of " + std::to_string(chosen.size) + " x " + std::to_string(chosen.size) + " on each target";
  table.columns = app::joined(
      app::joined(app::joined(app::joined({"product", "targets"}, app::quartile_columns("performance", "GFLOP/s")),
                              app::further_quartile_columns("threads of one process", "GFLOP/s")),
                  app::further_quartile_columns("measured peak", "GFLOP/s")),
      {"efficiency (%)", "efficiency (%): quartiles", "minimum B/F (bytes/flop)"});
  std::string unit;
  double deviation = 0.0;
  for (const precision which : {precision::double_, precision::single_}) {
    const bool is_double = which == precision::double_;
    for (const std::size_t count : app::numbers_up_to(nodes.size())) {
      const std::vector<ham::node_t> used(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
      const found all = is_double ? measure<double>(used, chosen, unit) : measure<float>(used, chosen, unit);
      deviation = std::max(deviation, all.deviation);
      const app::quartiles rate = app::quartiles_of(all.gflops);
      // A, B and C once each, and 2 n^3 operations.
      const double ratio = 3.0 * (is_double ? 8.0 : 4.0) / (2.0 * static_cast<double>(chosen.size));
      const bench::comparison efficiency = bench::compare(all.gflops, all.peaks);
      table.rows.push_back(app::joined(
          app::joined(
              app::joined(app::joined({is_double ? "DGEMM" : "SGEMM", bench::count(count)}, app::cells_of(rate, 2)),
                          app::cells_of(app::quartiles_of(all.threads), 2)),
              app::cells_of(app::quartiles_of(all.peaks), 2)),
          {{100.0 * efficiency.median_of_ratios, 1},
           {bench::range{100.0 * efficiency.ratio_low, 100.0 * efficiency.ratio_high}, 1},
           {ratio, 4}}));
      report.bars.push_back({std::string(is_double ? "DGEMM" : "SGEMM") + " on " + std::to_string(count) +
                                 (count == 1 ? " target" : " targets") + " / on as many threads of one process",
                             bench::compare(all.gflops, all.threads).median_of_ratios, bench::bar::direction::at_least,
                             0.95, ""});
    }
  }
  report.tables.push_back(std::move(table));
  report.bars.push_back(
      {"largest deviation, of what rounding allows", deviation, bench::bar::direction::at_most, 1.0, ""});
  report.remarks = {
      "one thread of OpenBLAS per target, and per thread of this process: " +
          offload::sync(nodes.front(), ham::fn<&gemm::openblas_configuration>),
      "peak: multiplications and additions on registers, " + unit +
          ", median of short turns, all targets at the same time, in turns with the products",
      "threads run on the targets' cores if these are of this machine, a product right after the targets' one",
      "time as the host sees it: from the calls until the last target has answered; the first product is not counted",
      "after each product 104 entries of each target's C are compared with a naive product"};
  result.correct = deviation <= 1.0;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App description{"Matrix products by OpenBLAS on targets (HAM_NODES says which).", "gemm"};
  options chosen;
  description.add_option("--size", chosen.size, "rows and columns of the matrices")
      ->check(CLI::Range(1, 40'000))
      ->capture_default_str();
  description
      .add_option("--peak-milliseconds", chosen.peak_milliseconds, "time for the measurements of each peak, together")
      ->check(CLI::Range(0.0, 60'000.0))
      ->capture_default_str();
  gemm::choose_kernels(argv);
  return app::run(argc, argv, description, chosen, [&] { return run(chosen); });
}
