// The Himeno benchmark (paper 4, Fig. 7, 8 and 11): a pressure solver on 1 to n targets, and in three execution models.
// args: --size XS --iterations 20 --repetitions 2
// expect: ^ *1 +[0-9.]+
// expect: ^  planes that differ from the serial run +0\.00 +\(<= 0\.00\)  ok$
// expect: residual after 20 iterations [0-9.]+e-[0-9]+, the same on every number of targets
#include <ham/offload.hpp>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "common/host_output.hpp"
#include "common/program.hpp"
#include "common/quartiles.hpp"
#include "common/targets.hpp"
#include "common/thread_team.hpp"
#include "himeno/grid.hpp"
#include "himeno/models.hpp"
#include "himeno/worker.hpp"

namespace {

namespace offload = ham::offload;
namespace bench = ham::bench;

struct options : app::settings {
  std::string size = "S";
  std::uint64_t iterations = 50;
  std::string model;
  std::string output;
};

/// What an iteration of all has come to.
struct solution {
  double residual = 0.0;
  std::vector<std::uint64_t> plane_hashes;
};

/// Number of planes, and residuals, that are not equal to the last bit.
std::uint64_t differences(const solution& left, const solution& right) {
  std::uint64_t count = left.residual == right.residual ? 0 : 1;
  for (std::size_t i = 0; i < left.plane_hashes.size(); ++i) count += left.plane_hashes[i] != right.plane_hashes[i];
  return count;
}

/// MFLOPS of a run of this many seconds, as the benchmark counts.
double mflops(const himeno::extents& grid, std::uint64_t iterations, double seconds) {
  return static_cast<double>(grid.inner_points() * iterations) * himeno::flops_per_point / seconds * 1e-6;
}

class serial_run {
 public:
  explicit serial_run(const himeno::extents& grid) : full_(grid, 1, grid.i - 1), planes_(grid.i - 2) {}
  /// Seconds.
  double iterate(std::uint64_t iterations) {
    full_.initialise();
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      full_.sweep(full_.first(), full_.last(), planes_.data());
      full_.swap();
    }
    return app::seconds_since(start);
  }
  [[nodiscard]] solution result() const { return {himeno::residual_of(planes_), full_.plane_hashes()}; }

 private:
  himeno::slab full_;
  std::vector<double> planes_;
};

/// The targets' parts on threads of this process, each in memory that its thread has touched first.
class threads_run {
 public:
  threads_run(const himeno::extents& grid, const std::vector<int>& cores)
      : team_(cores), parts_(cores.size()), planes_(grid.i - 2), all_(static_cast<std::ptrdiff_t>(cores.size())) {
    team_.run([&](std::size_t i) {
      const auto [first, last] = himeno::part_of(grid, i, parts_.size());
      parts_[i] = std::make_unique<himeno::slab>(grid, first, last);
    });
  }
  /// Seconds.
  double iterate(std::uint64_t iterations) {
    team_.run([this](std::size_t i) { parts_[i]->initialise(); });
    const auto start = std::chrono::steady_clock::now();
    team_.run([&](std::size_t i) {
      for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) iterate_once(i);
    });
    return app::seconds_since(start);
  }
  [[nodiscard]] solution result() const {
    solution all{himeno::residual_of(planes_), {}};
    for (const auto& one : parts_) {
      const auto hashes = one->plane_hashes();
      all.plane_hashes.insert(all.plane_hashes.end(), hashes.begin(), hashes.end());
    }
    return all;
  }

 private:
  void iterate_once(std::size_t i) {
    himeno::slab& here = *parts_[i];
    here.sweep(here.first(), here.last(), &planes_[here.first() - 1]);
    all_.arrive_and_wait();
    if (i > 0) copy_plane(*parts_[i - 1], here.first() - 1, here);
    if (i + 1 < parts_.size()) copy_plane(*parts_[i + 1], here.last(), here);
    all_.arrive_and_wait();
    here.swap();
  }
  static void copy_plane(himeno::slab& from, std::size_t plane, himeno::slab& to) {
    std::ranges::copy(from.next_plane(plane), to.next_plane(plane).begin());
  }

  app::thread_team team_;
  std::vector<std::unique_ptr<himeno::slab>> parts_;
  std::vector<double> planes_;
  std::barrier<> all_;
};

class targets_run {
 public:
  targets_run(const himeno::extents& grid, const std::vector<ham::node_t>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto [first, last] = himeno::part_of(grid, i, nodes.size());
      workers_.push_back(offload::make<himeno::worker>(nodes[i], std::uint64_t{grid.i}, std::uint64_t{grid.j},
                                                       std::uint64_t{grid.k}, std::uint64_t{first},
                                                       std::uint64_t{last}));
    }
    app::connect_line<float>(workers_.size(), [this](std::size_t i) { return workers_[i].ref(); });
  }
  ~targets_run() {
    for (const auto& one : workers_) {
      try {
        one.call<&himeno::worker::stop>();
      } catch (const std::exception&) {
        // The target is gone, and the worker with it.
      }
    }
  }
  targets_run(const targets_run&) = delete;
  targets_run& operator=(const targets_run&) = delete;

  double iterate(std::uint64_t iterations) {
    app::call_all(workers_.size(), [&](std::size_t i) { return workers_[i].async<&himeno::worker::initialise>(); });
    const auto start = std::chrono::steady_clock::now();
    const auto parts = app::call_all(
        workers_.size(), [&](std::size_t i) { return workers_[i].async<&himeno::worker::iterate>(iterations); });
    const double seconds = app::seconds_since(start);
    std::vector<double> planes;
    for (const auto& part : parts) planes.insert(planes.end(), part.begin(), part.end());
    residual_ = himeno::residual_of(planes);
    return seconds;
  }
  [[nodiscard]] solution result() const {
    solution all{residual_, {}};
    for (const auto& one : workers_) {
      const auto hashes = one.call<&himeno::worker::plane_hashes>();
      all.plane_hashes.insert(all.plane_hashes.end(), hashes.begin(), hashes.end());
    }
    return all;
  }

 private:
  std::vector<offload::remote<himeno::worker>> workers_;
  double residual_ = 0.0;
};

app::outcome run_scaling(const options& chosen, const himeno::extents& grid, const std::vector<ham::node_t>& nodes) {
  app::outcome result;
  bench::report& report = result.report;
  report.name = "himeno";
  bench::table table;
  const std::string points =
      std::to_string(grid.i) + " x " + std::to_string(grid.j) + " x " + std::to_string(grid.k) + " points";
  table.title =
      "Himeno, size " + chosen.size + ": " + points + ", " + std::to_string(chosen.iterations) + " iterations";
  table.columns =
      app::joined(app::joined(app::joined({"targets"}, app::quartile_columns("performance", "MFLOPS")),
                              app::joined(app::further_quartile_columns("one thread of the host", "MFLOPS"),
                                          app::further_quartile_columns("as many threads", "MFLOPS"))),
                  {"targets / one thread", "targets / one thread: quartiles", "targets / as many threads",
                   "targets / as many threads: quartiles", "memory traffic (GB/s)", "memory traffic (GB/s): quartiles",
                   "minimum B/F (bytes/flop)", "code B/F (bytes/flop)"});
  const double code_ratio = static_cast<double>(himeno::code_bytes_per_point) / himeno::flops_per_point;
  const double memory_ratio = static_cast<double>(himeno::memory_bytes_per_point) / himeno::flops_per_point;

  serial_run serial(grid);
  std::uint64_t different = 0;
  double residual = 0.0;
  for (const std::size_t count : app::numbers_up_to(std::min(nodes.size(), grid.i - 2))) {
    const std::vector<ham::node_t> used(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count));
    targets_run targets(grid, used);
    threads_run threads(grid, app::cores_of(used));
    std::vector<double> on_targets, on_host, on_threads;
    for (int repetition = 0; repetition < chosen.repetitions; ++repetition) {
      on_targets.push_back(mflops(grid, chosen.iterations, targets.iterate(chosen.iterations)));
      on_host.push_back(mflops(grid, chosen.iterations, serial.iterate(chosen.iterations)));
      on_threads.push_back(mflops(grid, chosen.iterations, threads.iterate(chosen.iterations)));
    }
    different += differences(serial.result(), targets.result()) + differences(serial.result(), threads.result());
    residual = serial.result().residual;
    const app::quartiles rate = app::quartiles_of(on_targets);
    const bench::comparison over_one = bench::compare(on_targets, on_host);
    const bench::comparison over_threads = bench::compare(on_targets, on_threads);
    table.rows.push_back(app::joined(app::joined(app::joined({bench::count(count)}, app::cells_of(rate, 0)),
                                                 app::joined(app::cells_of(app::quartiles_of(on_host), 0),
                                                             app::cells_of(app::quartiles_of(on_threads), 0))),
                                     {{over_one.median_of_ratios, 3},
                                      bench::quartiles_of_ratio(over_one),
                                      {over_threads.median_of_ratios, 3},
                                      bench::quartiles_of_ratio(over_threads),
                                      {rate.median * 1e-3 * memory_ratio, 2},
                                      app::spread_of(rate, 2, 1e-3 * memory_ratio),
                                      {memory_ratio, 2},
                                      {code_ratio, 2}}));
    if (count == 1) {
      report.bars.push_back({"one target / one thread of the host", over_one.median_of_ratios,
                             bench::bar::direction::at_least, 0.95, ""});
    } else {
      report.bars.push_back({std::to_string(count) + " targets / as many threads of one process",
                             over_threads.median_of_ratios, bench::bar::direction::at_least, 0.95, ""});
    }
  }
  report.tables.push_back(std::move(table));
  report.bars.push_back({"planes that differ from the serial run", static_cast<double>(different),
                         bench::bar::direction::at_most, 0.0, ""});
  char text[160];
  std::snprintf(text, sizeof text, "residual after %llu iterations %.9e, %s",
                static_cast<unsigned long long>(chosen.iterations), residual,
                different == 0 ? "the same on every number of targets" : "NOT the same on every number of targets");
  report.remarks = {
      text,
      "34 operations per inner point and iteration, as the benchmark counts",
      "p and its successor change places instead of being copied; residuals are summed once per run",
      "residual: the benchmark's gosa, whose squares are added up in double precision plane by plane; the "
      "benchmark adds all of them in one float, so that its printed digits differ from the sixth or so on",
      "memory traffic: performance times the minimum of bytes, each plane read once",
      "targets / one thread: what more cores gain; where memory is the limit, less than their number. targets / as "
      "many "
      "threads: what calls and halos between processes cost; the bar, because both have the same cores and the same "
      "partition"};
  result.correct = different == 0;
  return result;
}

app::outcome run_models(const options& chosen, const himeno::extents& grid, ham::node_t target) {
  app::outcome result;
  bench::report& report = result.report;
  report.name = "himeno";
  const std::string transport = offload::get_node_descriptor(target).transport();
  bench::table table;
  table.title = app::breakdown_title("Himeno, size " + chosen.size, transport,
                                     std::to_string(chosen.iterations) + " iterations, each prints a line");
  table.columns = app::breakdown_columns();
  app::host_output::open(chosen.output);

  const himeno::model_run right = himeno::run_model(app::model::local, target, grid, chosen.iterations);
  const std::string lines = app::host_output::content();
  std::uint64_t wrong = 0;
  for (const app::model which : app::models_named(chosen.model)) {
    std::vector<app::breakdown> times;
    for (int repetition = 0; repetition < chosen.repetitions; ++repetition) {
      app::host_output::reset();
      const himeno::model_run found = himeno::run_model(which, target, grid, chosen.iterations);
      times.push_back(found.time);
      if (found.residual != right.residual || app::host_output::content() != lines) ++wrong;
    }
    table.rows.push_back(app::breakdown_row(which, transport, times));
  }
  report.tables.push_back(std::move(table));
  report.bars.push_back({"runs with another residual or output than without a target", static_cast<double>(wrong),
                         bench::bar::direction::at_most, 0.0, ""});
  report.remarks = {
      "native: the program runs on the target and forwards its writes to the host; kernels: the host has the main "
      "loop, "
      "and puts and gets the arrays; callback: the program on the target has the host format and write",
      "computing: initialisation and kernels, where they run; transfer: put and get; I/O: formatting and writing, "
      "wherever; call: all else"};
  if (transport == "emulated") report.remarks.push_back("the link is emulated: its latency and bandwidth are settings");
  result.correct = wrong == 0;
  return result;
}

app::outcome run(const options& chosen) {
  const std::vector<ham::node_t> nodes = app::chosen_targets(chosen);
  const himeno::extents grid = himeno::extents_of(chosen.size);
  return chosen.model.empty() ? run_scaling(chosen, grid, nodes) : run_models(chosen, grid, nodes.front());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App description{"The Himeno benchmark on targets (HAM_NODES says which).", "himeno"};
  options chosen;
  description.add_option("--size", chosen.size, "size of the grid as the benchmark names it")
      ->check(CLI::IsMember({"XS", "S", "M", "L"}))
      ->capture_default_str();
  description.add_option("--iterations", chosen.iterations, "iterations of each run")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  description.add_option("--model", chosen.model, "compares execution models on one target")
      ->check(CLI::IsMember({"native", "kernels", "callback", "all"}));
  description.add_option("--output", chosen.output, "file for the lines that are printed with --model")
      ->needs(description.get_option("--model"));
  return app::run(argc, argv, description, chosen, [&] { return run(chosen); });
}
