// Heavy formatted output from a target in three execution models (paper 4, Fig. 11).
// args: --lines 500 --steps 2 --repetitions 2
// expect: ^ *native +[a-z]+ +[0-9.]+
// expect: ^ *kernels +[a-z]+ +[0-9.]+
// expect: ^ *callback +[a-z]+ +[0-9.]+
// expect: ^  runs with another output than without a target +0\.00 +\(<= 0\.00\)  ok$
#include <ham/offload.hpp>

#include <string>
#include <vector>

#include "common/breakdown.hpp"
#include "common/host_output.hpp"
#include "common/program.hpp"
#include "common/targets.hpp"
#include "formatted_output/models.hpp"

namespace {

namespace bench = ham::bench;

struct options : app::settings {
  formatted_output::amount amount;
  std::string model = "all";
  std::string output;
};

app::outcome run(const options& chosen) {
  const ham::node_t target = app::chosen_targets(chosen).front();
  const std::string transport = ham::offload::get_node_descriptor(target).transport();
  app::host_output::open(chosen.output);
  (void)formatted_output::run_model(app::model::local, target, chosen.amount);
  const std::string right = app::host_output::content();

  app::outcome result;
  bench::report& report = result.report;
  report.name = "formatted_output";
  bench::table table;
  table.title = app::breakdown_title(
      "Formatted output", transport,
      std::to_string(chosen.amount.steps) + " steps of " + std::to_string(chosen.amount.lines) + " lines");
  table.columns = app::breakdown_columns();
  std::uint64_t wrong = 0;
  for (const app::model which : app::models_named(chosen.model)) {
    std::vector<app::breakdown> times;
    for (int repetition = 0; repetition < chosen.repetitions; ++repetition) {
      app::host_output::reset();
      times.push_back(formatted_output::run_model(which, target, chosen.amount));
      if (app::host_output::content() != right) ++wrong;
    }
    table.rows.push_back(app::breakdown_row(which, transport, times));
  }
  report.tables.push_back(std::move(table));
  report.bars.push_back({"runs with another output than without a target", static_cast<double>(wrong),
                         bench::bar::direction::at_most, 0.0, ""});
  report.remarks = {
      "native: the target formats, and forwards each full buffer of " + std::to_string(chosen.amount.buffer) +
          " bytes to the host; kernels: the host calls the kernel, gets the numbers and formats; callback: the target "
          "calls the host with the numbers, which formats",
      std::to_string(right.size()) + " bytes of text are " +
          std::to_string(chosen.amount.steps * chosen.amount.lines * 24) + " bytes of numbers",
      "computing: the kernel, where it runs; transfer: get; I/O: formatting and writing, wherever; call: all else"};
  if (transport == "emulated") report.remarks.push_back("the link is emulated: its latency and bandwidth are settings");
  result.correct = wrong == 0;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App description{"Formatted output of a program on a target in three execution models.", "formatted_output"};
  options chosen;
  chosen.default_nodes = "shm:1";
  description.add_option("--lines", chosen.amount.lines, "lines of each step")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  description.add_option("--steps", chosen.amount.steps, "steps")->check(CLI::Range(1, 100'000))->capture_default_str();
  description.add_option("--buffer", chosen.amount.buffer, "bytes of text that are written at once")
      ->check(CLI::Range(1, 16'777'216))
      ->capture_default_str();
  description.add_option("--model", chosen.model, "which of the models")
      ->check(CLI::IsMember({"native", "kernels", "callback", "all"}))
      ->capture_default_str();
  description.add_option("--output", chosen.output, "file for the text (default: a temporary one)");
  return app::run(argc, argv, description, chosen, [&] { return run(chosen); });
}
