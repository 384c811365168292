/* The blocks of docs/mpix.md that are no programs: compiled only. */
#include <ham/mpix_kernel.h>
#include <mpi.h>
#include <stdio.h>

MPI_Comm spawn_elsewhere(void) {
  MPI_Comm children;
#include "mpix/where.inc"
  return children;
}

void call_and_wait(void* args[3], int sizes[3], MPI_Comm comm, MPI_Comm children) {
#include "mpix/icall.inc"
}
