// ULFM as Open MPI 5 and MPICH offer it, or nothing.
#include "transport/mpi/failures.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <numeric>

namespace ham::inline v1::transport::mpi {

std::vector<int> failed_ranks(MPI_Comm among, [[maybe_unused]] int error) {
#if defined MPIX_ERR_PROC_FAILED
  int kind = error;
  MPI_Error_class(error, &kind);
  if (kind == MPIX_ERR_PROC_FAILED || kind == MPIX_ERR_PROC_FAILED_PENDING) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group failed = MPI_GROUP_NULL;
    int count = 0;
    MPIX_Comm_failure_ack(among);
    MPIX_Comm_failure_get_acked(among, &failed);
    MPI_Comm_group(among, &all);
    MPI_Group_size(failed, &count);
    std::vector<int> theirs(static_cast<std::size_t>(count));
    std::vector<int> ours(theirs.size());
    std::iota(theirs.begin(), theirs.end(), 0);
    MPI_Group_translate_ranks(failed, count, theirs.data(), all, ours.data());
    MPI_Group_free(&failed);
    MPI_Group_free(&all);
    return ours;
  }
#endif
  int size = 0;
  MPI_Comm_size(among, &size);
  std::vector<int> everybody(static_cast<std::size_t>(size));
  std::iota(everybody.begin(), everybody.end(), 0);
  return everybody;
}

}  // namespace ham::transport::mpi
