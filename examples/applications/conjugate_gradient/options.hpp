// Command line of the conjugate gradient solver.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "solver.hpp"

namespace cg {

struct command_line {
  std::string file;         ///< empty: the Poisson matrix below
  std::int32_t grid = 300;  ///< points per side of the Poisson grid
  solver_options solver;
  std::string plot;           ///< SVG file for the residual; empty: none
  bool compare = true;        ///< with the same solver in this process
  bool targets_only = false;  ///< that measurement without the others: all of them share caches
  double turn_ms = 10;        ///< of a turn of that comparison
  bool json = false;          ///< print one object of JSON, nothing else
};

/// The options, or the exit code with which to end (help was shown, or an option is wrong and that was said).
std::variant<command_line, int> parse_command_line(int argc, char** argv);

}  // namespace cg
