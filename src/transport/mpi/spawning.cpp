// The two sides of MPI_Comm_spawn.
#include "transport/mpi/spawning.hpp"

#include "transport/mpi/session.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

MPI_Comm merge(MPI_Comm between, int high, node_t& first) {
  MPI_Comm merged = MPI_COMM_NULL;
  const int error = MPI_Intercomm_merge(between, high, &merged);
  if (error != MPI_SUCCESS) throw config_error("MPI cannot join processes that it started (" + text_of(error) + ")");
  MPI_Bcast(&first, 1, MPI_INT32_T, 0, merged);
  MPI_Comm_free(&between);
  return merged;
}

}  // namespace

MPI_Comm spawn_processes(const std::vector<std::string>& command, std::size_t count, node_t first) {
  std::vector<char*> arguments;
  for (std::size_t i = 1; i < command.size(); ++i) arguments.push_back(const_cast<char*>(command[i].c_str()));
  arguments.push_back(nullptr);
  MPI_Comm between = MPI_COMM_NULL;
  std::vector<int> errors(count, MPI_SUCCESS);
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int error = MPI_Comm_spawn(command.front().c_str(), arguments.data(), static_cast<int>(count), MPI_INFO_NULL, 0,
                                   MPI_COMM_SELF, &between, errors.data());
  MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
  MPI_Errhandler_free(&before);
  if (error != MPI_SUCCESS) {
    throw config_error("MPI cannot start " + command.front() + " (" + text_of(error) +
                       "); Open MPI under mpirun can, Debian's MPICH and jobs without a launcher cannot");
  }
  return merge(between, 0, first);
}

MPI_Comm connect_parent(node_t& first) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) throw config_error("this process was not started by offload::spawn");
  return merge(parent, 1, first);
}

}  // namespace ham::transport::mpi
