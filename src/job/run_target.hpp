// What every target does, however it came to be: joins its host, and executes calls until the host has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "job/node_directory.hpp"
#include "job/started_targets.hpp"
#include "runtime/engine.hpp"
#include "transport/process_group.hpp"

namespace ham::detail {

/// What differs from target to target.
struct target_boot {
  node_t self = 1;
  node_t starter = 0;                  ///< who has started it
  std::size_t nodes = 2;               ///< one more than the largest number of a node
  std::unique_ptr<base::heap> memory;  ///< nullptr: an own one
  network_settings how;                ///< connections to other machines
  /// Makes the transport to the host, and says in the directory whom it reaches.
  std::function<std::unique_ptr<transport::transport>(engine&, node_directory&)> open;
  std::function<void()> join = [] {};   ///< when the transport is in use
  std::function<void(engine&)> begin;   ///< if it is there: the target waits for the host's greeting, and calls it
  std::function<void()> ended = [] {};  ///< when the host has ended, before the connections are left
  std::function<void()> left = [] {};   ///< and when they have been
};

/// Executes calls until the host has ended; the engine is the process's one meanwhile. Throws ham::config_error.
void run_target(target_boot boot);

/// True if a host started this process as a target (HAM_TARGET).
[[nodiscard]] bool is_target_process();
/// In such a process. Plain output: lines of stdout and stderr are not put together.
void run_target_process(bool plain_output = false);
/// In a process in which the host has called ham_main with the address of what it has left there.
void run_called_target(std::uint64_t address);
/// In a rank of a launcher that is not the host. `planned`: all targets of the job, of which it starts its own by
/// `how`.
void run_rank(std::unique_ptr<transport::process_group> group, const fresh_targets& planned, target_defaults how);

}  // namespace ham::detail
