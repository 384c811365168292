// Each run begins anew with the same state, so that all of them end with the same one.
#include "shallow_water/measures.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "bench/statistics.hpp"
#include "common/quartiles.hpp"
#include "common/targets.hpp"
#include "shallow_water/end_check.hpp"
#include "shallow_water/frame.hpp"
#include "shallow_water/full_run.hpp"
#include "shallow_water/serial_run.hpp"
#include "shallow_water/threads_run.hpp"

namespace shallow_water {
namespace {

namespace bench = ham::bench;
namespace offload = ham::offload;
using direction = bench::bar::direction;

/// A folder that goes with its content.
class temporary_folder {
 public:
  temporary_folder() : name_((std::filesystem::temp_directory_path() / "ham-shallow-water-XXXXXX").string()) {
    if (mkdtemp(name_.data()) == nullptr) {
      throw app::bad_input(name_ + ": cannot be made: " + std::generic_category().message(errno) +
                           "; TMPDIR names another folder");
    }
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// What the host keeps of a run on its way.
struct kind {
  std::string name;
  run_plan plan;
};

/// Milliseconds of the runs of one kind.
struct run_times {
  std::vector<double> total, computing, moving, files;

  void add(const run_result& of) {
    total.push_back(1e3 * of.total);
    computing.push_back(1e3 * of.computing);
    moving.push_back(1e3 * of.moving);
    files.push_back(1e3 * of.files);
  }
};

int process_id() { return getpid(); }

class measuring {
 public:
  measuring(const measure_plan& plan, const std::vector<ham::node_t>& targets)
      : plan_(plan),
        targets_(targets),
        start_{plan.of, 0, initial_state(plan.of)},
        ends_(plan.of, plan.steps, right()) {
    plan_.every = std::min(plan_.every, plan_.steps);
    targets_.resize(std::min<std::size_t>(targets_.size(), plan_.of.rows));
  }

  app::outcome result() {
    report_.name = "shallow_water";
    scaling();
    files();
    if (targets_.size() < 2) {
      report_.remarks.emplace_back("no target is killed: there is only one");
    } else if (offload::sync(targets_.back(), ham::fn<&process_id>) == process_id()) {
      report_.remarks.emplace_back("no target is killed: it is this process");
    } else {
      death();
    }
    bars_of_ends();
    return {std::move(report_), ends_.all_right() && went_on_};
  }

 private:
  [[nodiscard]] std::vector<double> right() const {
    serial_run serial(plan_.of);
    serial.advance(plan_.steps);
    return serial.state();
  }
  [[nodiscard]] std::string cells() const {
    return std::to_string(plan_.of.columns) + " x " + std::to_string(plan_.of.rows) + " cells";
  }

  run_result run(const std::vector<ham::node_t>& on, const run_plan& plan, planned_death how = {}) {
    run_result found = run_on(on, start_, plan, how);
    ends_.add(found.end.state);
    return found;
  }

  /// 1 .. n targets in turns with as many threads on their cores.
  void scaling() {
    bench::table table;
    table.title = "Shallow water on targets: " + cells() + ", " + std::to_string(plan_.steps) + " steps";
    table.columns = app::joined(app::joined(app::joined({"targets"}, app::quartile_columns("rate", "Mcells/s")),
                                            app::further_quartile_columns("as many threads", "Mcells/s")),
                                {"targets / as many threads", "targets / as many threads: quartiles"});
    const double updates = 1e-6 * static_cast<double>(plan_.of.columns * plan_.of.rows * plan_.steps);
    for (const std::size_t count : app::numbers_up_to(targets_.size())) {
      const std::vector<ham::node_t> used(targets_.begin(), targets_.begin() + static_cast<std::ptrdiff_t>(count));
      threads_run threads(plan_.of, app::cores_of(used));
      std::vector<double> on_targets, on_threads;
      for (int repetition = 0; repetition < plan_.repetitions; ++repetition) {
        on_targets.push_back(updates / run(used, {plan_.steps, plan_.steps, "", ""}).computing);
        on_threads.push_back(updates / threads.advance(start_.state, plan_.steps));
        ends_.add(threads.state());
      }
      const bench::comparison ratio = bench::compare(on_targets, on_threads);
      table.rows.push_back(
          app::joined(app::joined(app::joined({bench::count(count)}, app::cells_of(app::quartiles_of(on_targets), 2)),
                                  app::cells_of(app::quartiles_of(on_threads), 2)),
                      {{ratio.median_of_ratios, 3}, bench::quartiles_of_ratio(ratio)}));
      report_.bars.push_back(
          {count == 1 ? "one target / one thread" : std::to_string(count) + " targets / as many threads of one process",
           ratio.median_of_ratios, direction::at_least, 0.95, ""});
    }
    report_.tables.push_back(std::move(table));
  }

  /// The same run with and without states, checkpoints and pictures, in turns.
  void files() {
    const std::string checkpoint = folder_.name() + "/checkpoint";
    const std::string every = " every " + std::to_string(plan_.every) + " steps";
    const std::array<kind, 4> kinds{{{"nothing but the end", {plan_.steps, plan_.steps, "", ""}},
                                     {"states" + every, {plan_.steps, plan_.every, "", ""}},
                                     {"checkpoints" + every, {plan_.steps, plan_.every, "", checkpoint}},
                                     {"pictures" + every, {plan_.steps, plan_.every, folder_.name(), ""}}}};
    std::array<run_times, kinds.size()> times;
    for (int repetition = 0; repetition < plan_.repetitions; ++repetition) {
      for (std::size_t i = 0; i < kinds.size(); ++i) times[i].add(run(targets_, kinds[i].plan));
    }
    bench::table table;
    table.title = "What a run keeps on its way: " + cells() + ", " + std::to_string(plan_.steps) + " steps on " +
                  std::to_string(targets_.size()) + (targets_.size() == 1 ? " target" : " targets");
    table.columns = app::joined({"kept"}, app::quartile_columns("total", "ms"));
    for (const char* part : {"steps", "state to and from targets", "files"}) {
      table.columns = app::joined(std::move(table.columns), app::further_quartile_columns(part, "ms"));
    }
    table.columns = app::joined(std::move(table.columns),
                                {"total / nothing but the end", "total / nothing but the end: quartiles"});
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      std::vector<bench::cell> row{kinds[i].name};
      for (const auto* part : {&times[i].total, &times[i].computing, &times[i].moving, &times[i].files}) {
        row = app::joined(std::move(row), app::cells_of(app::quartiles_of(*part), 2));
      }
      const bench::comparison ratio = bench::compare(times[i].total, times[0].total);
      table.rows.push_back(
          app::joined(std::move(row), {{ratio.median_of_ratios, 3}, bench::quartiles_of_ratio(ratio)}));
    }
    report_.tables.push_back(std::move(table));
    report_.remarks.push_back("a checkpoint has " + std::to_string(start_.of.size() * sizeof(double) / 1000000) +
                              " MB; pictures are " + frame_format() + "; files are written to " +
                              folder_.name().substr(0, folder_.name().rfind('/')) + ", and no run waits for a disk");
    undisturbed_ = times[2];
  }

  /// With checkpoints; the last target kills itself in the middle of a stretch of steps.
  void death() {
    const std::uint64_t last_checkpoint = plan_.steps / 2 / plan_.every * plan_.every;
    const planned_death how{targets_.size(), last_checkpoint + plan_.every / 2};
    const run_result with = run(targets_, {plan_.steps, plan_.every, "", folder_.name() + "/checkpoint"}, how);
    went_on_ = with.failures.size() == 1 && with.targets + 1 == targets_.size();
    bench::table table;
    table.title = "Death of a target after step " + std::to_string(how.step) + " of " + std::to_string(plan_.steps) +
                  ": the others go on from the checkpoint of step " + std::to_string(last_checkpoint);
    table.columns = {"run",        "targets at the end", "total (ms)",     "time lost (ms)",
                     "steps (ms)", "steps lost (ms)",    "giving up (ms)", "state to and from targets (ms)",
                     "files (ms)"};
    const auto middle = [](const std::vector<double>& of) { return app::quartiles_of(of).median; };
    const double total = middle(undisturbed_.total);
    table.rows.push_back({"without a death (medians of the runs above)",
                          bench::count(targets_.size()),
                          {total, 2},
                          {0.0, 2},
                          {middle(undisturbed_.computing), 2},
                          {0.0, 2},
                          {0.0, 2},
                          {middle(undisturbed_.moving), 2},
                          {middle(undisturbed_.files), 2}});
    table.rows.push_back({"with a death (one run)",
                          bench::count(with.targets),
                          {1e3 * with.total, 2},
                          {1e3 * with.total - total, 2},
                          {1e3 * with.computing, 2},
                          {1e3 * with.lost, 2},
                          {1e3 * with.giving_up, 2},
                          {1e3 * with.moving, 2},
                          {1e3 * with.files, 2}});
    report_.tables.push_back(std::move(table));
    report_.bars.push_back(
        {"runs that went on after the death of a target", went_on_ ? 1.0 : 0.0, direction::at_least, 1.0, ""});
    // What the dead target was doing is the rest of the line.
    for (const std::string& failure : with.failures) report_.remarks.push_back(failure.substr(0, failure.find(';')));
    report_.remarks.emplace_back(
        "steps lost: from the last checkpoint until the host knew; giving up: stopping the blocks of the others. The "
        "rest "
        "of the time lost is that of fewer targets for the steps that are left");
  }

  void bars_of_ends() {
    report_.bars.push_back({"numbers that differ from the serial run", static_cast<double>(ends_.differences()),
                            direction::at_most, 0.0, ""});
    report_.bars.push_back(
        {"change of volume, of what rounding allows", ends_.volume_share(), direction::at_most, 1.0, ""});
    report_.bars.push_back(
        {"depths that are negative or no numbers", static_cast<double>(ends_.unsound()), direction::at_most, 0.0, ""});
  }

  measure_plan plan_;
  std::vector<ham::node_t> targets_;
  checkpoint start_;
  end_check ends_;
  temporary_folder folder_;
  bench::report report_;
  run_times undisturbed_;
  bool went_on_ = true;
};

}  // namespace

app::outcome measure(const measure_plan& plan, const std::vector<ham::node_t>& targets) {
  return measuring(plan, targets).result();
}

}  // namespace shallow_water
