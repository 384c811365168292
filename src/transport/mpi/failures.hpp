// Which ranks MPI has lost, where it can say so: User Level Failure Mitigation.
#pragma once

#include <mpi.h>

#include <vector>

namespace ham::inline v1::transport::mpi {

/// The ranks that are gone after a call among them gave `error`. Without ULFM that is all of them: such an MPI does not
/// go on. Receives from any rank work again afterwards.
[[nodiscard]] std::vector<int> failed_ranks(MPI_Comm among, int error);

}  // namespace ham::transport::mpi
