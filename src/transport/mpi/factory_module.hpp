// Loads the module for the MPI that started this process.
#pragma once

#include "transport/process_group.hpp"

namespace ham::inline v1::transport::mpi {

/// Whether an MPI launcher started this process: mpirun, mpiexec, or srun with PMI or PMIx.
[[nodiscard]] bool started_by_mpi() noexcept;

/// The module libham_mpi_NAME.so; loaded once and kept. HAM_MPI_MODULE says which: openmpi, mpich, or a file. Otherwise
/// that of the MPI that this program is linked with, or else of the launcher, or else one that is there. Throws
/// ham::config_error. Any thread.
[[nodiscard]] group_module& load_group_module();
/// The group of all ranks, or of a communicator's (transport/process_group.hpp). What this process starts from here on
/// is no rank, whatever environment it inherits.
[[nodiscard]] std::unique_ptr<process_group> join_all_ranks(const void* communicator);
/// Ends MPI if the module was loaded and began it (group_module::finish).
void finish_group_module(const std::string* failure) noexcept;

}  // namespace ham::transport::mpi
