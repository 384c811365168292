// Starting processes, and pipes to them.
#pragma once

#include "descriptor.hpp"

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::run {

struct process_plan {
  std::vector<std::string> command;  ///< the first word is looked up in PATH if it has no slash
  std::vector<std::pair<std::string, std::string>> environment;  ///< beside what is there
  std::string folder;                                            ///< empty: the current one
  int in = -1;                                                   ///< -1: inherited
  int out = -1;
  int err = -1;
  std::vector<int> inherited;       ///< descriptors that stay open there under their numbers
  bool deaf_to_interrupts = false;  ///< Ctrl-C is for the host only
};

/// Starts a process, which is told to end (SIGTERM) when this one has ended. Throws problem.
pid_t start_process(const process_plan& plan);

struct pipe_ends {
  descriptor read;
  descriptor write;
};
[[nodiscard]] pipe_ends make_pipe();

/// The exit status in the manner of shells: 128 + signal if it died by one.
[[nodiscard]] int exit_code(int wait_status);

/// "status 3", or "signal 9 (Killed)".
[[nodiscard]] std::string describe_end(int wait_status);

}  // namespace ham::run
