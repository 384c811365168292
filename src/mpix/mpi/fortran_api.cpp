// What module mpix_kernel_f08 calls: handles are Fortran's.
#include <ham/mpix_kernel.h>

#include <cstddef>
#include <vector>

extern "C" {

int ham_mpix_fortran_call_multiple(int count, char** names, int* argcounts, void*** args, int** argsizes, int root,
                                   MPI_Fint comm, MPI_Fint intercomm) {
  return MPIX_Kernel_call_multiple(count, names, argcounts, args, argsizes, root, MPI_Comm_f2c(comm),
                                   MPI_Comm_f2c(intercomm));
}

int ham_mpix_fortran_icall_multiple(int count, char** names, int* argcounts, void*** args, int** argsizes, int root,
                                    MPI_Fint comm, MPI_Fint intercomm, MPIX_Kernel_request* request) {
  return MPIX_Kernel_icall_multiple(count, names, argcounts, args, argsizes, root, MPI_Comm_f2c(comm),
                                    MPI_Comm_f2c(intercomm), request);
}

int ham_mpix_fortran_waitall(int root, MPI_Fint comm, MPI_Fint intercomm, MPIX_Kernel_status* status) {
  return MPIX_Kernel_waitall(root, MPI_Comm_f2c(comm), MPI_Comm_f2c(intercomm), status);
}

}  // extern "C"
