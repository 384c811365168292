// Running another program and taking what it prints.
#pragma once

#include <string>
#include <vector>

namespace ham::inline v1::info {

struct captured_run {
  std::string output;  ///< of its standard output; standard error is passed through
  std::string ending;  ///< "exit code 1", "signal 11"
  int exit_code = -1;  ///< -1 if it did not end by itself
  bool timed_out = false;
};

/// Runs `command` with an empty standard input until it ends or `timeout_ms` are over; then it is killed.
/// Throws std::runtime_error if it cannot be started.
[[nodiscard]] captured_run run_and_capture(const std::vector<std::string>& command, int timeout_ms);

}  // namespace ham::info
