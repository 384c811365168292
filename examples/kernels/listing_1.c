/* Listing 1 of paper 5: a main program that starts processes, launches the kernel of listing 2 on them, sends it data,
 * does something else, and receives the results. Run by
 *
 *   mpirun -n 2 ./listing_1 ./listing_2 2      (the program to spawn, and how many of it)
 */
#include <ham/mpix_kernel.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm intercomm;
  int children = argc > 2 ? atoi(argv[2]) : 2;
  int rank;
  MPI_Comm_rank(comm, &rank);

  // Spawn accelerator processes
  MPI_Comm_spawn(argc > 1 ? argv[1] : "./listing_2", MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, comm, &intercomm,
                 MPI_ERRCODES_IGNORE);

  // Start "kernel0" on accelerators
  double a = 0.5;
  int b = 10;
  char c = 'x';
  void* args[] = {&a, &b, &c};
  int argsizes[] = {sizeof a, sizeof b, sizeof c};
  MPIX_Kernel_call("kernel0", 3, args, argsizes, 0, comm, intercomm);

  // Send input data to kernel functions
  double* input = malloc((size_t)children * sizeof *input);
  double* output = malloc((size_t)children * sizeof *output);
  for (int i = 0; i < children; ++i) input[i] = 100 * rank + i;
  MPI_Alltoall(input, 1, MPI_DOUBLE, NULL, 0, MPI_DOUBLE, intercomm);

  // Do some other calculations...

  // Recv results from kernel functions
  MPI_Alltoall(NULL, 0, MPI_DOUBLE, output, 1, MPI_DOUBLE, intercomm);
  for (int i = 0; i < children; ++i) printf("parent %d, from child %d: %.1f\n", rank, i, output[i]);

  // End the accelerator processes
  MPIX_Kernel_call("", 0, NULL, NULL, 0, comm, intercomm);
  MPI_Comm_disconnect(&intercomm);
  free(input);
  free(output);
  MPI_Finalize();
  return 0;
}
