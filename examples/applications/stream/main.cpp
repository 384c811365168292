// STREAM (paper 4, Fig. 5 and 6): memory bandwidth of 1 to n targets, beside as many threads of one process.
// args: --elements 100000 --repetitions 3
// expect: ^ *Triad +1 +[0-9.]+
// expect: ^  wrong elements +0\.00 +\(<= 0\.00\)  ok$
// expect: Triad on [0-9]+ targets? / on as many threads
#include <unistd.h>
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
#include "stream/kernels.hpp"
#include "stream/vectors.hpp"

namespace {

namespace offload = ham::offload;
namespace bench = ham::bench;

struct options : app::settings {
  std::uint64_t elements = 10'000'000;
  bool in_cache = false;
};

/// Elements per array with which the three arrays of a target are four times as large as its core's own cache, and
/// those of all targets at most half of the last-level one; 0: there is no such number, or the sizes are not known.
std::uint64_t elements_in_cache(std::size_t targets) {
  const long own = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  const long shared = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (own <= 0 || shared <= 0) return 0;
  const auto bytes = 4 * static_cast<std::uint64_t>(own);
  return bytes * targets <= static_cast<std::uint64_t>(shared) / 2 ? bytes / (3 * sizeof(double)) : 0;
}

/// GB/s of each repetition, per kernel.
struct rates {
  std::vector<double> targets[4], threads[4];
};

struct contest {
  rates measured;
  std::uint64_t wrong = 0;
};

/// Each repetition runs a kernel on the targets and on the threads, one right after the other.
contest measure(const std::vector<ham::node_t>& nodes, const options& chosen) {
  std::vector<offload::remote<stream::vectors>> there;
  for (const ham::node_t node : nodes) there.push_back(offload::make<stream::vectors>(node, chosen.elements));
  std::vector<std::unique_ptr<stream::vectors>> here(nodes.size());
  app::thread_team threads(app::cores_of(nodes));
  threads.run([&](std::size_t i) { here[i] = std::make_unique<stream::vectors>(chosen.elements); });

  contest result;
  const auto rounds = static_cast<std::uint64_t>(chosen.repetitions);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const stream::kernel which : stream::kernels) {
      const auto index = static_cast<std::size_t>(which);
      const double bytes = static_cast<double>(chosen.elements * nodes.size()) * stream::cost_of(which).bytes;
      auto start = std::chrono::steady_clock::now();
      app::call_all(nodes.size(), [&](std::size_t i) { return there[i].async<&stream::vectors::run>(which); });
      result.measured.targets[index].push_back(bytes / app::seconds_since(start) * 1e-9);
      start = std::chrono::steady_clock::now();
      threads.run([&](std::size_t i) { here[i]->run(which); });
      result.measured.threads[index].push_back(bytes / app::seconds_since(start) * 1e-9);
      // Every kernel's result is checked once, in the first round; all of it together after the last.
      if (round > 0 && (round + 1 < rounds || which != stream::kernel::triad)) continue;
      for (const auto& one : there) result.wrong += one.call<&stream::vectors::wrong>(round, which);
      for (const auto& one : here) result.wrong += one->wrong(round, which);
    }
  }
  return result;
}

app::outcome run(options chosen) {
  const std::vector<ham::node_t> nodes = app::chosen_targets(chosen);
  app::outcome result;
  bench::report& report = result.report;
  report.name = "stream";
  if (chosen.in_cache) {
    chosen.elements = elements_in_cache(nodes.size());
    if (chosen.elements == 0) {
      report.remarks = {
          "not measured: no arrays of these targets are larger than the caches of their cores and fit into half "
          "of the last-level cache, or the sizes of the caches are not known"};
      result.correct = true;
      return result;
    }
  }
  bench::table table;
  table.title = std::string(chosen.in_cache ? "STREAM in the last-level cache, " : "STREAM, ") +
                std::to_string(chosen.elements) + " elements per array and target";
  table.columns =
      app::joined(app::joined(app::joined({"kernel", "targets"}, app::quartile_columns("bandwidth", "GB/s")),
                              app::further_quartile_columns("threads of one process", "GB/s")),
                  {"performance (GFLOP/s)", "performance (GFLOP/s): quartiles", "code B/F (bytes/flop)"});

  std::uint64_t wrong = 0;
  for (const std::size_t count : app::numbers_up_to(nodes.size())) {
    const contest found = measure({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count)}, chosen);
    wrong += found.wrong;
    for (const stream::kernel which : stream::kernels) {
      const auto index = static_cast<std::size_t>(which);
      const auto [name, bytes, flops] = stream::cost_of(which);
      const app::quartiles rate = app::quartiles_of(found.measured.targets[index]);
      const bench::cell ratio = flops > 0 ? bench::cell(static_cast<double>(bytes) / flops, 0) : bench::cell("-");
      table.rows.push_back(
          app::joined(app::joined(app::joined({std::string(name), bench::count(count)}, app::cells_of(rate, 2)),
                                  app::cells_of(app::quartiles_of(found.measured.threads[index]), 2)),
                      {{rate.median * flops / bytes, 2},
                       app::spread_of(rate, 2, static_cast<double>(flops) / static_cast<double>(bytes)),
                       ratio}));
    }
    const auto triad = static_cast<std::size_t>(stream::kernel::triad);
    const bench::comparison ratio = bench::compare(found.measured.targets[triad], found.measured.threads[triad]);
    report.bars.push_back({"Triad on " + std::to_string(count) + (count == 1 ? " target" : " targets") +
                               " / on as many threads of one process",
                           ratio.median_of_ratios, bench::bar::direction::at_least, 0.95, ""});
  }
  report.tables.push_back(std::move(table));
  report.bars.push_back({"wrong elements", static_cast<double>(wrong), bench::bar::direction::at_most, 0.0, ""});
  report.remarks = {
      "bytes as STREAM counts them: without reading the lines that are written",
      "time as the host sees it: from the calls until the last target has answered",
      "threads run on the targets' cores if these are of this machine, a kernel right after the targets' one",
      chosen.in_cache ? "the arrays of a target are four times as large as the cache of its core; others may use the "
                        "last-level cache, too"
                      : "arrays of less than four times the last-level cache measure the cache"};
  result.correct = wrong == 0;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App description{"Memory bandwidth of targets (HAM_NODES says which): Copy, Scale, Add and Triad.", "stream"};
  options chosen;
  chosen.repetitions = 10;
  description.add_option("--elements", chosen.elements, "elements per array and target, of 8 bytes")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  description.add_flag("--in-cache", chosen.in_cache,
                       "as many elements as only the last-level cache holds, which is measured");
  return app::run(argc, argv, description, chosen, [&] { return run(chosen); });
}
