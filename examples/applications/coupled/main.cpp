// A coupled run: each step of the host's time loop calls a solver object on a target and overlaps it with its own work.
// args: --steps 50 --repetitions 2 --step-ms 0.3
// expect: ^ *a target +[0-9.]+
// expect: ^  runs with another result than in one process +0\.00 +\(<= 0\.00\)  ok$
// expect: ^  overhead per step against the faster pair of threads +-?[0-9.]+ %
#include <ham/offload.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "common/cores.hpp"
#include "common/program.hpp"
#include "common/quartiles.hpp"
#include "common/targets.hpp"
#include "coupled/field.hpp"
#include "coupled/thread_solver.hpp"

namespace {

namespace offload = ham::offload;
namespace bench = ham::bench;
using coupled::field;

struct options : app::settings {
  std::uint64_t columns = 128;
  std::uint64_t rows = 64;
  std::uint64_t steps = 25;
  double step_ms = 1.0;
};

struct setup {
  std::uint64_t columns;
  field warm, cold;
  std::uint64_t sweeps = 1;  ///< of each of them per step
};

/// As many sweeps as take the host the time of a step.
setup calibrated(const options& chosen) {
  setup result{chosen.columns, {chosen.columns, chosen.rows, 20.0, 10.0}, {chosen.columns, chosen.rows, 4.0, 2.0}, 1};
  field tried = result.warm;
  const std::vector<double> edge(chosen.columns, 5.0);
  double per_sweep = 1e300;
  for (int turn = 0; turn < 20; ++turn) {
    constexpr std::uint64_t sweeps = 20;
    const auto start = std::chrono::steady_clock::now();
    (void)tried.step(edge, sweeps);
    per_sweep = std::min(per_sweep, app::seconds_since(start) / sweeps);
  }
  result.sweeps = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(chosen.step_ms * 1e-3 / per_sweep));
  return result;
}

struct run_result {
  double seconds_per_step = 0.0;
  std::vector<double> warm, row;  ///< the host's field, and what came last from the other one
};

/// The time loop: start(edge) begins a step of the other field, wait() gives its row. One step more comes before those
/// whose time is taken: it wakes who has slept.
template <class Start, class Wait>
run_result time_loop(const setup& at, std::uint64_t steps, Start start, Wait wait) {
  field warm = at.warm;
  std::vector<double> own(at.columns, 10.0);
  std::vector<double> other(at.columns, 2.0);
  auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t step = 0; step <= steps; ++step) {
    if (step == 1) begin = std::chrono::steady_clock::now();
    start(own);
    std::vector<double> next = warm.step(other, at.sweeps);
    other = wait();
    own = std::move(next);
  }
  return {app::seconds_since(begin) / static_cast<double>(steps), warm.points(), other};
}

run_result on_target(const setup& at, const options& chosen, ham::node_t node) {
  const auto there = offload::make<field>(node, chosen.columns, chosen.rows, 4.0, 2.0);
  offload::future<std::vector<double>> pending;
  return time_loop(
      at, chosen.steps, [&](const std::vector<double>& edge) { pending = there.async<&field::step>(edge, at.sweeps); },
      [&] { return pending.get(); });
}

run_result on_thread(const setup& at, const options& chosen, coupled::waiting how, int core) {
  coupled::thread_solver there(at.cold, at.sweeps, how, core);
  return time_loop(
      at, chosen.steps, [&](const std::vector<double>& edge) { there.start(edge); }, [&] { return there.wait(); });
}

/// One after the other on the calling thread: neither overlap nor waiting.
run_result alone(const setup& at, const options& chosen) {
  field there = at.cold;
  std::vector<double> row;
  return time_loop(
      at, chosen.steps, [&](const std::vector<double>& edge) { row = there.step(edge, at.sweeps); },
      [&] { return row; });
}

app::outcome run(const options& chosen) {
  const ham::node_t node = app::chosen_targets(chosen).front();
  const int core = app::cores_of({node}).front();
  // For good: a scheduler may leave this thread and one on that core together for milliseconds.
  if (const int mine = core < 0 ? -1 : app::core_apart_from(core); mine >= 0) app::stay_on(mine);
  const setup at = calibrated(chosen);

  struct contestant {
    const char* name;
    std::vector<double> seconds;
  };
  std::vector<contestant> who{
      {"a target", {}}, {"two threads, spinning", {}}, {"two threads, sleeping", {}}, {"one thread, no overlap", {}}};
  std::uint64_t wrong = 0;
  for (int repetition = 0; repetition < chosen.repetitions; ++repetition) {
    const run_result runs[] = {on_target(at, chosen, node), on_thread(at, chosen, coupled::waiting::spinning, core),
                               on_thread(at, chosen, coupled::waiting::sleeping, core), alone(at, chosen)};
    for (std::size_t i = 0; i < who.size(); ++i) {
      who[i].seconds.push_back(runs[i].seconds_per_step);
      wrong += runs[i].warm != runs[3].warm || runs[i].row != runs[3].row;
    }
  }

  // One of them throughout, on a busy machine those that sleep. The faster one of each repetition would be a floor that
  // moves: the less one run is like the next, the further below what either pair takes.
  const bool sleeping_is_faster = app::quartiles_of(who[2].seconds).median < app::quartiles_of(who[1].seconds).median;
  const contestant& threads = who[sleeping_is_faster ? 2 : 1];

  app::outcome result;
  bench::report& report = result.report;
  report.name = "coupled";
  bench::table table;
  char title[120];
  std::snprintf(title, sizeof title, "Coupled run, %llu steps of about %.3g ms on each side",
                static_cast<unsigned long long>(chosen.steps), chosen.step_ms);
  table.title = title;
  table.columns = app::joined(
      app::joined({"solver on"}, app::quartile_columns("time per step", "us")),
      {"more than the faster pair of threads (us)", "more than the faster pair of threads (us): quartiles"});
  for (const contestant& one : who) {
    std::vector<double> microseconds;
    for (const double seconds : one.seconds) microseconds.push_back(1e6 * seconds);
    const bench::comparison more = bench::compare(one.seconds, threads.seconds);
    table.rows.push_back(app::joined(
        app::joined({one.name}, app::cells_of(app::quartiles_of(microseconds), 2)),
        {{1e6 * more.median_difference, 2}, {bench::range{1e6 * more.difference_low, 1e6 * more.difference_high}, 2}}));
  }
  report.tables.push_back(std::move(table));
  const bench::comparison overhead = bench::compare(who[0].seconds, threads.seconds);
  constexpr double limit_percent = 1.0;
  const auto percent = [](double ratio) { return 100.0 * (ratio - 1.0); };
  report.bars.push_back({"overhead per step against the faster pair of threads", percent(overhead.median_of_ratios),
                         bench::bar::direction::at_most, limit_percent, "%"});
  report.bars.push_back({"runs with another result than in one process", static_cast<double>(wrong),
                         bench::bar::direction::at_most, 0.0, ""});
  report.remarks = {std::to_string(chosen.columns * sizeof(double)) +
                        " bytes travel in each direction per step; both sides compute at the same time",
                    "the bar is meant for steps of 1 ms, host and target on a core each; all run in turns",
                    std::string("the faster pair of threads, by the median of all runs: ") + threads.name,
                    core >= 0 ? "the second thread runs on the target's core, " + std::to_string(core)
                              : "the second thread runs where the system puts it"};
  if (const double low = percent(overhead.ratio_low), high = percent(overhead.ratio_high);
      high - low > 2 * limit_percent) {
    char spread[200];
    std::snprintf(spread, sizeof spread,
                  "a bar of %.3g %% is not resolved by this run: half of the overheads lie between %.2g and %.2g %%",
                  limit_percent, low, high);
    report.remarks.emplace_back(spread);
  }
  result.correct = wrong == 0;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App description{"A time loop with a solver object on a target (HAM_NODES says which).", "coupled"};
  options chosen;
  chosen.repetitions = 109;  // short runs: each is compared with those right beside it
  chosen.default_nodes = "shm:1";
  description.add_option("--columns", chosen.columns, "points of a row, which travels in each step")
      ->check(CLI::Range(3, 100'000))
      ->capture_default_str();
  description.add_option("--rows", chosen.rows, "rows of each side")
      ->check(CLI::Range(3, 10'000))
      ->capture_default_str();
  description.add_option("--steps", chosen.steps, "steps of each run that are timed")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  description.add_option("--step-ms", chosen.step_ms, "work of each side per step, in milliseconds")
      ->check(CLI::Range(0.0, 10'000.0))
      ->capture_default_str();
  return app::run(argc, argv, description, chosen, [&] { return run(chosen); });
}
