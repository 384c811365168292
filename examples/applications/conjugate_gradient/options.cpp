// Command line of the conjugate gradient solver, read with CLI11. Options --ham-... were taken out before main.
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <string>

#include "exit_code.hpp"

namespace cg {

std::variant<command_line, int> parse_command_line(int argc, char** argv) {
  command_line options;
  CLI::App app{
      "Solves A x = b by conjugate gradients, offloaded to all targets (HAM_NODES says which).\n"
      "b is chosen such that every element of x is 1. Without a file, A is the Poisson matrix of a square grid."};
  const auto* file = app.add_option("file,--file", options.file, "Matrix Market file: coordinate, real or integer");
  app.add_option("--grid", options.grid, "points per side of the Poisson grid")
      ->check(CLI::Range(2, 20000))
      ->excludes(app.get_option("--file"))
      ->capture_default_str();
  app.add_option("--tol", options.solver.tolerance, "relative residual |b - A x| / |b| to reach")
      ->check(CLI::Range(1e-300, 1.0))
      ->capture_default_str();
  app.add_option("--max-iter", options.solver.max_iterations,
                 "iterations to stop after (default: 10 per row, at least 1000)")
      ->check(CLI::Range(1, 2000000000));
  std::string precond = "jacobi";
  app.add_option("--precond", precond, "preconditioner")
      ->check(CLI::IsMember({"jacobi", "none"}))
      ->capture_default_str();
  app.add_option("--plot", options.plot, "draw the residual of every iteration into this SVG file");
  app.add_flag("!--no-compare", options.compare, "do not measure the same solver in this process, without HAM");
  app.add_flag("--targets-only", options.targets_only,
               "measure turns of the targets alone, whose caches they keep then")
      ->excludes(app.get_option("--no-compare"));
  app.add_option("--turn-ms", options.turn_ms, "milliseconds of each turn of that measurement")
      ->check(CLI::Range(1.0, 1e4))
      ->capture_default_str();
  app.add_flag("--json", options.json, "print the result as one object of JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    return app.exit(stop) == 0 ? exit_code::success : exit_code::bad_input;
  }
  if (file->count() > 0 && options.file.empty()) {
    std::cerr << "--file: the path is empty (no file to read); give the path of a .mtx file\n";
    return exit_code::bad_input;
  }
  options.solver.precond = precond == "jacobi" ? preconditioner::jacobi : preconditioner::none;
  return options;
}

}  // namespace cg
