// The connections of this process, each kept with its intercommunicator and left when that goes, or MPI ends.
#pragma once

#include "mpix/mpi/connection.hpp"

#include <memory>

namespace ham::inline v1::mpix::connections {

/// Null if there is none.
[[nodiscard]] std::shared_ptr<connection> find(MPI_Comm intercomm);

void add(MPI_Comm intercomm, std::shared_ptr<connection> made);

}  // namespace ham::mpix::connections
