// A job: starts it on the host, and ends it.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload/runtime.hpp"
#include "job/job_trace.hpp"
#include "job/membership.hpp"
#include "job/node_directory.hpp"
#include "job/node_job.hpp"
#include "runtime/engine.hpp"
#include "runtime/metrics_server.hpp"
#include "transport/launched_factory.hpp"

namespace ham::inline v1::detail {

/// A running job, seen from the host.
struct runtime_parts {
  ~runtime_parts();
  const pid_t owner = ::getpid();
  /// The engine of the program's calls: the host's, or that of the target on which main runs; nullptr: the job of this
  /// target has ended.
  [[nodiscard]] engine* here() const noexcept;

  node_t self = 0;
  std::size_t nodes = 0;               // of a target, which has nothing of what follows
  bool runs_main = false;              // on a target
  std::function<void()> serve;         // of a target that has not begun: to its end
  bool ends_launchers = false;         // the job began their runtimes
  bool is_of_launcher = false;         // this process is one of a launcher's, and the job is theirs
  std::optional<std::string> failure;  // why its start has failed; empty text: there was no memory for it
  // nullptr if the targets are threads of this process:
  std::unique_ptr<node_directory> directory;
  std::unique_ptr<membership> members;
  std::unique_ptr<main_role> main;
  std::unique_ptr<node_job> job;
  std::unique_ptr<engine> host;
  std::unique_ptr<job_trace> trace;                    // nullptr: none is made
  std::vector<std::unique_ptr<engine>> local_targets;  // threads of this process
  std::vector<std::thread> target_threads;
  std::shared_ptr<metrics_server> metrics;  // nullptr: they are served to nobody
};

/// Starts the targets that `options` ask for. `command` is this program with its arguments. In a rank of MPI that is a
/// target it executes calls until the host has ended; what it gives then has no engine, unless main is to run there.
/// `communicator`: of the vendor's type, its ranks are the nodes; nullptr: all ranks.
[[nodiscard]] std::unique_ptr<runtime_parts> start_job(const runtime_options& options, std::vector<std::string> command,
                                                       const void* communicator = nullptr);

/// On a host whose main runs on a target (options.main_node): serves until that has ended, also its process if that is
/// one of this machine's, and gives the exit status. Throws ham::config_error.
[[nodiscard]] int serve_main_elsewhere(runtime_parts& parts, const runtime_options& options,
                                       std::vector<std::string> command);

/// Of a target on which main runs (main_here).
[[nodiscard]] std::unique_ptr<runtime_parts> parts_of_main_here();

}  // namespace ham::detail
