// STREAM (paper 4, Fig. 5 and 6): memory bandwidth of 1 to n targets, beside as many threads of one process.
// args: --elements 100000 --repetitions 3
// expect: ^ *Triad +1 +[0-9.]+
// expect: ^  wrong elements +0\.00 +\(<= 0\.00\)  ok$
// expect: Triad on [0-9]+ targets? / on as many threads
#include <unistd.h>
#include <ham/offload.hpp>

#include <algorithm>
#include <cstdio>
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

/// Whether a last-level cache may be measured in place of memory: it has kept some of the arrays when they come
/// again.
std::string size_of_arrays(std::uint64_t elements) {
  constexpr double mib = 1 << 20;
  const double bytes = 3.0 * sizeof(double) * static_cast<double>(elements);
  const auto cache = static_cast<double>(::sysconf(_SC_LEVEL3_CACHE_SIZE));
  char text[200];
  if (cache <= 0)
    std::snprintf(text, sizeof text, "the arrays of a target have %.0f MiB, the last-level cache is not known",
                  bytes / mib);
  else if (bytes < 4 * cache)
    std::snprintf(text, sizeof text,
                  "the arrays of a target (%.0f MiB) are less than four times the last-level cache (%.0f MiB), "
                  "which may be measured in part; --elements makes them larger",
                  bytes / mib, cache / mib);
  else
    std::snprintf(text, sizeof text, "the arrays of a target have %.0f MiB, the last-level cache %.0f", bytes / mib,
                  cache / mib);
  return text;
}

/// GB/s of each repetition, per kernel.
struct rates {
  std::vector<double> targets[4], threads[4];
};

struct contest {
  rates measured;
  std::uint64_t wrong = 0;
};

/// Passes of a kernel in one call, so that waking a core that was idle does not count: 0.1 ms each time.
std::uint64_t passes_of(std::uint64_t elements) {
  constexpr std::uint64_t enough = 10'000'000;
  return (enough + elements - 1) / elements;
}

/// The same arrays on targets and in threads of this process.
class both_sides {
 public:
  explicit both_sides(const std::vector<ham::node_t>& nodes) : nodes_(nodes), threads_(app::cores_of(nodes)) {}

  /// New arrays: where the system finds physical memory for them makes them faster or slower by some per cent.
  void renew(std::uint64_t elements, bool targets_first) {
    there_.clear();
    here_.clear();
    here_.resize(nodes_.size());
    if (targets_first) make_on_targets(elements);
    threads_.run([&](std::size_t i) { here_[i] = std::make_unique<stream::vectors>(elements); });
    if (!targets_first) make_on_targets(elements);
  }
  double seconds_on_targets(stream::kernel which, std::uint64_t passes) {
    const auto start = std::chrono::steady_clock::now();
    app::call_all(nodes_.size(), [&](std::size_t i) { return there_[i].async<&stream::vectors::run>(which, passes); });
    return app::seconds_since(start);
  }
  double seconds_on_threads(stream::kernel which, std::uint64_t passes) {
    const auto start = std::chrono::steady_clock::now();
    threads_.run([&](std::size_t i) { here_[i]->run(which, passes); });
    return app::seconds_since(start);
  }
  [[nodiscard]] std::uint64_t wrong(stream::kernel last) const {
    std::uint64_t count = 0;
    for (const auto& one : there_) count += one.call<&stream::vectors::wrong>(last);
    for (const auto& one : here_) count += one->wrong(last);
    return count;
  }

 private:
  void make_on_targets(std::uint64_t elements) {
    for (const ham::node_t node : nodes_) there_.push_back(offload::make<stream::vectors>(node, elements));
  }

  const std::vector<ham::node_t>& nodes_;
  std::vector<offload::remote<stream::vectors>> there_;
  std::vector<std::unique_ptr<stream::vectors>> here_;
  app::thread_team threads_;
};

/// Each repetition has new arrays, which both sides make first in turns, and runs a kernel on the targets and on the
/// threads, one right after the other.
contest measure(const std::vector<ham::node_t>& nodes, const options& chosen) {
  both_sides sides(nodes);
  contest result;
  const std::uint64_t passes = passes_of(chosen.elements);
  for (int round = 0; round < chosen.repetitions; ++round) {
    sides.renew(chosen.elements, round % 2 == 0);
    for (const stream::kernel which : stream::kernels) {
      const auto index = static_cast<std::size_t>(which);
      const double bytes = static_cast<double>(chosen.elements * nodes.size() * passes) * stream::cost_of(which).bytes;
      result.measured.targets[index].push_back(bytes / sides.seconds_on_targets(which, passes) * 1e-9);
      result.measured.threads[index].push_back(bytes / sides.seconds_on_threads(which, passes) * 1e-9);
      // Every kernel's result is checked in the first round, all of it together after each.
      if (round == 0 || which == stream::kernel::triad) result.wrong += sides.wrong(which);
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
      "each repetition has new arrays: which physical memory they get makes either side up to some per cent faster",
      chosen.in_cache ? "the arrays of a target are four times as large as the cache of its core; others may use the "
                        "last-level cache, too"
                      : size_of_arrays(chosen.elements)};
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
