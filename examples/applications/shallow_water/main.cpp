// Shallow water on targets: rows of the domain, halos from target to target, pictures, checkpoints; targets may die.
// args: --columns 60 --rows 50 --steps 120 --every 40
// expect: ^ *[1-9][0-9]* +60 x 50 +120 +
// expect: ^  numbers that differ from the serial run +0\.00 +\(<= 0\.00\)  ok$
// expect: ^  change of volume, of what rounding allows +[0-9.]+ +\(<= 1\.00\)  ok$
#include <ham/offload.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/statistics.hpp"
#include "common/program.hpp"
#include "common/quartiles.hpp"
#include "common/targets.hpp"
#include "shallow_water/checkpoint.hpp"
#include "shallow_water/end_check.hpp"
#include "shallow_water/frame.hpp"
#include "shallow_water/full_run.hpp"
#include "shallow_water/measures.hpp"
#include "shallow_water/serial_run.hpp"

namespace {

namespace offload = ham::offload;
namespace bench = ham::bench;
namespace sw = shallow_water;

struct options : app::settings {
  sw::domain of{300, 300};
  bool has_size = false;  ///< said on the command line
  sw::run_plan plan;
  std::string restart;
  std::vector<std::uint64_t> kill;
  bool check = true;
  bool measure = false;
};

sw::checkpoint start_of(const options& chosen) {
  if (chosen.restart.empty()) return {chosen.of, 0, sw::initial_state(chosen.of)};
  sw::checkpoint start = sw::read_checkpoint(chosen.restart);
  const auto size = [](const sw::domain& of) { return std::to_string(of.columns) + " x " + std::to_string(of.rows); };
  if (chosen.has_size && (start.of.columns != chosen.of.columns || start.of.rows != chosen.of.rows)) {
    throw app::bad_input(chosen.restart + ": is of " + size(start.of) + " cells, not " + size(chosen.of) +
                         ": leave --columns and --rows out, or start anew");
  }
  if (start.step >= chosen.plan.steps) {
    throw app::bad_input(chosen.restart + ": is at step " + std::to_string(start.step) + "; --steps must be more");
  }
  return start;
}

/// Complains about folders and files that cannot be written before the work begins.
void prepare_files(const options& chosen, const sw::checkpoint& start) {
  if (!chosen.plan.frames.empty()) {
    std::error_code error;
    std::filesystem::create_directories(chosen.plan.frames, error);
    if (error) throw app::bad_input(chosen.plan.frames + ": " + error.message());
  }
  if (!chosen.plan.checkpoint.empty()) sw::write_checkpoint(chosen.plan.checkpoint, start);
}

app::outcome run(const options& chosen) {
  const std::vector<ham::node_t> nodes = app::chosen_targets(chosen);
  if (chosen.measure) {
    return sw::measure({chosen.of, chosen.plan.steps, chosen.plan.every, chosen.repetitions}, nodes);
  }
  const sw::checkpoint start = start_of(chosen);
  prepare_files(chosen, start);
  const sw::domain& of = start.of;
  const double updates = static_cast<double>(of.columns * of.rows) * 1e-6;
  const auto new_steps = static_cast<double>(chosen.plan.steps - start.step);

  app::outcome result;
  bench::report& report = result.report;
  report.name = "shallow_water";
  std::optional<sw::serial_run> serial;
  std::optional<std::vector<double>> right;
  if (chosen.check) {
    serial.emplace(of);  // from the beginning, also after a restart
    serial->advance(chosen.plan.steps);
    right = serial->state();
  }
  sw::end_check ends(of, chosen.plan.steps, std::move(right));
  const std::uint64_t serial_steps = std::min(chosen.plan.every, chosen.plan.steps);
  std::vector<double> rates, serial_rates, moving, files;
  sw::planned_death death;
  if (!chosen.kill.empty()) death = {chosen.kill[0], chosen.kill[1]};
  for (int repetition = 0; repetition < chosen.repetitions; ++repetition) {
    std::vector<ham::node_t> alive;
    for (const ham::node_t node : nodes) {
      if (offload::alive(node)) alive.push_back(node);
    }
    const sw::run_result found = sw::run_on(alive, start, chosen.plan, repetition == 0 ? death : sw::planned_death{});
    ends.add(found.end.state);
    rates.push_back(updates * new_steps / found.computing);
    if (serial) serial_rates.push_back(updates * static_cast<double>(serial_steps) / serial->advance(serial_steps));
    moving.push_back(1e3 * found.moving);
    files.push_back(1e3 * found.files);
    for (const std::string& failure : found.failures) report.remarks.push_back(failure);
  }

  const auto most = bench::bar::direction::at_most;
  if (chosen.check) {
    report.bars.push_back(
        {"numbers that differ from the serial run", static_cast<double>(ends.differences()), most, 0.0, ""});
  }
  report.bars.push_back({"change of volume, of what rounding allows", ends.volume_share(), most, 1.0, ""});
  report.bars.push_back({"depths that are negative or no numbers", static_cast<double>(ends.unsound()), most, 0.0, ""});

  bench::table table;
  table.title = "Shallow water, finite volumes";
  table.columns =
      app::joined(app::joined(app::joined({"targets", "cells", "steps"}, app::quartile_columns("rate", "Mcells/s")),
                              app::further_quartile_columns("serial", "Mcells/s")),
                  app::joined(app::further_quartile_columns("state to and from targets", "ms"),
                              app::further_quartile_columns("files", "ms")));
  table.rows.push_back(app::joined(
      app::joined(app::joined({bench::count(nodes.size()), std::to_string(of.columns) + " x " + std::to_string(of.rows),
                               bench::count(chosen.plan.steps)},
                              app::cells_of(app::quartiles_of(rates), 2)),
                  serial ? app::cells_of(app::quartiles_of(serial_rates), 2) : std::vector<bench::cell>(3, "-")),
      app::joined(app::cells_of(app::quartiles_of(moving), 2), app::cells_of(app::quartiles_of(files), 2))));
  report.tables.push_back(std::move(table));
  char text[200];
  std::snprintf(text, sizeof text, "volume changed by %.1e of itself; four roundings per cell and step allow %.1e",
                ends.volume_change(), sw::volume_tolerance(chosen.plan.steps));
  report.remarks.push_back(text);
  if (!chosen.plan.frames.empty()) {
    report.remarks.push_back("pictures as " + std::string(sw::frame_format()) + " in " + chosen.plan.frames);
  }
  result.correct = ends.all_right();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App description{
      "Shallow water in a basin on targets (HAM_NODES says which).\n"
      "If a target dies, the others go on from the state that the host has collected last.",
      "shallow_water"};
  options chosen;
  chosen.repetitions = 1;
  const auto size = CLI::Range(std::uint64_t{1}, std::uint64_t{sw::max_side});
  const auto* columns = description.add_option("--columns", chosen.of.columns, "cells from left to right");
  const auto* rows = description.add_option("--rows", chosen.of.rows, "cells from bottom to top");
  for (auto* one : {description.get_option("--columns"), description.get_option("--rows")}) {
    one->check(size)->capture_default_str();
  }
  description.add_option("--steps", chosen.plan.steps, "step to end with")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  description.add_option("--every", chosen.plan.every, "steps between states that the host collects")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  description.add_option("--frames", chosen.plan.frames, "folder for a picture of each of them");
  description.add_option("--checkpoint", chosen.plan.checkpoint, "file that each of them is written to");
  description.add_option("--restart", chosen.restart, "such a file to go on from");
  description.add_option("--kill", chosen.kill, "a target and a step: it kills itself then, to try what happens")
      ->expected(2);
  description.add_flag("!--no-check", chosen.check, "do not compare with the serial run");
  auto* measure = description.add_flag("--measure", chosen.measure,
                                       "targets beside threads, the cost of checkpoints and pictures, a death");
  for (const char* other : {"--frames", "--checkpoint", "--restart", "--kill", "--no-check"}) {
    measure->excludes(description.get_option(other));
  }
  return app::run(argc, argv, description, chosen, [&] {
    chosen.has_size = columns->count() + rows->count() > 0;
    try {
      return run(chosen);
    } catch (const sw::file_error& failure) {
      throw app::bad_input(failure.what());
    }
  });
}
