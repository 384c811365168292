// Puts a runtime together out of an engine and transports. The only room that names transports.
#pragma once

#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload/runtime.hpp"
#include "runtime/compose_job.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

/// A running job, seen from the host.
struct runtime_parts {
  ~runtime_parts();
  const pid_t owner = ::getpid();
  node_t self = 0;
  std::size_t nodes = 0;            // of a rank that was a target, until its job ended; it has nothing of what follows
  bool ends_mpi = false;            // the job began it
  std::unique_ptr<host_job> whole;  // nullptr with loopback
  std::unique_ptr<engine> host;
  std::vector<std::unique_ptr<engine>> local_targets;  // loopback
  std::vector<std::thread> target_threads;
};

/// Starts the targets that `options` ask for. `command` is this program with its arguments. In a rank of MPI that is a
/// target it executes calls until the host has ended; what it gives then has no engine. `communicator`: of the vendor's
/// type, its ranks are the nodes; nullptr: all ranks.
[[nodiscard]] std::unique_ptr<runtime_parts> start_job(const runtime_options& options, std::vector<std::string> command,
                                                       const void* communicator = nullptr);

/// Executes calls in a rank until the host has ended.
void run_rank(std::unique_ptr<transport::process_group> group);

/// True if this process was started as a target.
[[nodiscard]] bool is_target_process();
/// Executes calls until the host has ended. Plain output: lines of stdout and stderr are not put together.
void run_target(bool plain_output = false);

}  // namespace ham::detail
