// Communicators of our own.
#include "transport/mpi/group.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::mpi {
namespace {

/// MPI opens more of them when two ranks first meet, and may wait for ever where it finds none left.
void warn_if_few_descriptors(int rank) noexcept {
  std::array<base::unique_fd, 16> spare;
  for (base::unique_fd& one : spare) {
    one = base::unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (one || errno != EMFILE) continue;
    base::log(
        "mpi", base::log_level::warning,
        "rank %d has fewer than %zu descriptors left, and MPI may wait for ever when it needs more; raise the limit "
        "of open files (ulimit -n)",
        rank, spare.size());
    return;
  }
}

}  // namespace

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
  warn_if_few_descriptors(rank_);  // ranks meet now
  return std::make_unique<mpi_transport>(session_, std::exchange(own_, MPI_COMM_NULL), how_, memory, to);
}

}  // namespace ham::transport::mpi
