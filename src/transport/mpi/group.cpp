// Communicators of our own.
#include "transport/mpi/group.hpp"

#include <utility>

#include "base/backoff.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::mpi {

MPI_Comm duplicate(MPI_Comm of) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Request ready = MPI_REQUEST_NULL;
  const int error = MPI_Comm_idup(of, &own, &ready);
  if (error != MPI_SUCCESS) throw config_error("MPI cannot duplicate the communicator (" + text_of(error) + ")");
  int done = 0;
  base::backoff<base::backoff_schedule{.spins = 10'000, .yields = 0, .sleep_ns = 200'000}> pause;
  while (MPI_Test(&ready, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) pause.wait();
  return own;
}

mpi_group::mpi_group(session& in, MPI_Comm own, const transport_options& how) : session_(in), own_(own), how_(how) {
  MPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own_, &rank_);
  MPI_Comm_size(own_, &size_);
}

mpi_group::~mpi_group() {
  if (own_ != MPI_COMM_NULL) MPI_Comm_free(&own_);
}

std::unique_ptr<transport> mpi_group::open(base::heap* memory, observer& to) {
  return std::make_unique<mpi_transport>(session_, std::exchange(own_, MPI_COMM_NULL), how_, memory, to);
}

}  // namespace ham::transport::mpi
