// The main function of the measuring applications: start, common options, report, exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <stdexcept>
#include <string>

#include "bench/report.hpp"

namespace app {

/// A wrong option or file; what() says which, and what to do.
class bad_input : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace exit_code {
inline constexpr int success = 0;
inline constexpr int wrong_result = 1;
inline constexpr int bad_input = 2;
inline constexpr int offload_failed = 3;  ///< a target failed
}  // namespace exit_code

struct settings {
  int targets = 0;  ///< 0: all that there are
  int repetitions = 5;
  bool json = false;
  std::string default_nodes;  ///< where nobody says otherwise; empty: a pinned target per core
};

struct outcome {
  ham::bench::report report;
  bool correct = true;  ///< all results were as they must be
};

/// Starts the targets, reads the command line with `options`, to which it adds --targets, --repetitions and --json,
/// runs `body`, and prints its report. Gives the exit code.
int run(int argc, char** argv, CLI::App& options, settings& common, const std::function<outcome()>& body);

}  // namespace app
