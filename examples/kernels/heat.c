/* Heat spreads on a plate: a computation whose parts talk to each other, offloaded as three kinds of kernels in one
 * message.
 *
 *   mpirun -n 2 ./heat ./heat_kernels 2
 */
#include <ham/mpix_kernel.h>

#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 60, PHASES = 10, CALLS = PHASES + 2 };

static void compute(MPI_Comm comm, MPI_Comm intercomm) {
  int size = SIZE;
  int centre = SIZE / 2;
  double heat = 1000;
  int steps = 10;
  double rate = 0.2;
  void* start_args[] = {&size, &centre, &centre, &heat};
  int start_sizes[] = {sizeof size, sizeof centre, sizeof centre, sizeof heat};
  void* diffuse_args[] = {&steps, &rate};
  int diffuse_sizes[] = {sizeof steps, sizeof rate};

  char* names[CALLS];
  int counts[CALLS];
  void** args[CALLS];
  int* sizes[CALLS];
  names[0] = "start";
  counts[0] = 4;
  args[0] = start_args;
  sizes[0] = start_sizes;
  for (int i = 1; i <= PHASES; ++i) {
    names[i] = "diffuse";
    counts[i] = 2;
    args[i] = diffuse_args;
    sizes[i] = diffuse_sizes;
  }
  names[CALLS - 1] = "send_result";
  counts[CALLS - 1] = 0;
  args[CALLS - 1] = NULL;
  sizes[CALLS - 1] = NULL;
  MPIX_Kernel_call_multiple(CALLS, names, counts, args, sizes, 0, comm, intercomm);
}

static void show(MPI_Comm intercomm, int children) {
  static double plate[SIZE][SIZE];
  int row = 0;
  for (int child = 0; child < children; ++child) {
    MPI_Status status;
    int values;
    MPI_Recv(plate[row], (SIZE - row) * SIZE, MPI_DOUBLE, child, 0, intercomm, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &values);
    row += values / SIZE;
  }
  double total = 0;
  int hottest = 0;
  for (int i = 0; i < SIZE * SIZE; ++i) {
    total += plate[i / SIZE][i % SIZE];
    if (plate[i / SIZE][i % SIZE] > plate[hottest / SIZE][hottest % SIZE]) hottest = i;
  }
  printf("total heat %.3f, hottest %.3f at row %d, column %d\n", total, plate[hottest / SIZE][hottest % SIZE],
         hottest / SIZE, hottest % SIZE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm intercomm;
  int children = argc > 2 ? atoi(argv[2]) : 2;
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_spawn(argc > 1 ? argv[1] : "./heat_kernels", MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, comm, &intercomm,
                 MPI_ERRCODES_IGNORE);
  compute(comm, intercomm);
  if (rank == 0) show(intercomm, children);

  MPIX_Kernel_status status;
  if (MPIX_Kernel_waitall(0, comm, intercomm, &status) != MPI_SUCCESS) fprintf(stderr, "%s\n", status.text);
  MPIX_Kernel_call("", 0, NULL, NULL, 0, comm, intercomm);
  MPI_Comm_disconnect(&intercomm);
  MPI_Finalize();
  return 0;
}
