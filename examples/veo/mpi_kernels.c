// Kernels that are ranks of an MPI job, while their hosts are not.
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

// Returns the rank of this helper.
int64_t join(void) {
  if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return -1;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// The integral of 4 / (1 + x * x) from 0 to 1, each helper its share of the steps.
double pi(int64_t steps) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double part = 0;
  for (int64_t i = rank; i < steps; i += size) {
    const double x = ((double)i + 0.5) / (double)steps;
    part += 4 / (1 + x * x) / (double)steps;
  }
  double sum = 0;
  MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// What the helper before this one in the ring has passed.
int64_t pass_on(int64_t mine) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int64_t theirs = -1;
  MPI_Sendrecv(&mine, 1, MPI_INT64_T, (rank + 1) % size, 0, &theirs, 1, MPI_INT64_T, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return theirs;
}

int64_t leave(void) { return MPI_Finalize(); }
