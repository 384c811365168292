/* Listing 2 of paper 5: an MPI kernel. It is linked with the supplied main, and knows nothing of how it is called. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

void kernel0(double a, int b, char c) {
  // Get intercommunicator to parents
  MPI_Comm intercomm;
  MPI_Comm_get_parent(&intercomm);
  int parents;
  int rank;
  MPI_Comm_remote_size(intercomm, &parents);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  // Recv input data from parents
  double* data = malloc((size_t)parents * sizeof *data);
  MPI_Alltoall(NULL, 0, MPI_DOUBLE, data, 1, MPI_DOUBLE, intercomm);

  // Do calculations and communicate...
  int sum;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < parents; ++i) data[i] = a * data[i] + b + sum;
  if (rank == 0) printf("kernel0(%.1f, %d, %c) on %d parents' data\n", a, b, c, parents);

  // Send results to parents
  MPI_Alltoall(data, 1, MPI_DOUBLE, NULL, 0, MPI_DOUBLE, intercomm);
  free(data);
}
