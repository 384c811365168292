// The kernels that ham-bench kernels starts: five numbers, as in paper 5's measurements, and nothing to do; and the
// children's part of the floor.
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "polite_receive.hpp"

extern "C" {

void five_numbers(double /*a*/, double /*b*/, double /*c*/, double /*d*/, double /*e*/) {}

/// Receives `messages` messages and passes them on along the tree that kernels are passed on along, then answers. See
/// bare_exchange.hpp.
void pass_on(int messages, int largest_bytes, int answer_bytes) {
  namespace kernels = ham::kernels;
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  const MPI_Comm children = MPI_COMM_WORLD;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(children, &rank);
  MPI_Comm_size(children, &size);
  std::vector<std::byte> bytes(static_cast<std::size_t>(largest_bytes));
  const std::vector<std::byte> answer(static_cast<std::size_t>(answer_bytes));
  const bool first = rank == 0;

  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(children, &request);
  kernels::wait(request);
  if (first) MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, parents);  // all have come here
  for (int i = 0; i < messages; ++i) {
    const int count = kernels::receive(bytes, first ? 0 : rank & (rank - 1), first ? parents : children);
    for (int bit = 1; bit < size && (rank & bit) == 0; bit <<= 1) {
      if ((rank | bit) < size) MPI_Send(bytes.data(), count, MPI_BYTE, rank | bit, 0, children);
    }
  }
  const int mine = 1;
  int all = 0;
  MPI_Ireduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, children, &request);
  kernels::wait(request);
  if (first) MPI_Send(answer.data(), answer_bytes, MPI_BYTE, 0, 0, parents);
}

}  // extern "C"
