// MPI_Comm_spawn: new processes, and one communicator of them and the one that asked.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1::transport::mpi {

/// The process that spawned is rank 0; `first`, its word, is given to the others. Throws ham::config_error.
[[nodiscard]] MPI_Comm spawn_processes(const std::vector<std::string>& command, std::size_t count, node_t first);
/// The same communicator in a process that was started so; sets `first`. Throws ham::config_error if it was not.
[[nodiscard]] MPI_Comm connect_parent(node_t& first);

}  // namespace ham::transport::mpi
