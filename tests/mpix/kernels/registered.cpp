// Kernels that say their types themselves; compiled without debug information.
#include <ham/mpix_kernel.h>

#include <stdio.h>

extern "C" char registered_seen[100];
char registered_seen[100];

MPIX_KERNEL(void, registered, (double, int, char));
MPIX_KERNEL(long, registered_types, (double, int, const float*));
MPIX_KERNEL(void, registered_unknown, (struct FILE_like*, MPI_Comm));

void registered(double a, int b, char c) { snprintf(registered_seen, sizeof registered_seen, "%g %d %c", a, b, c); }

long registered_types(double a, int b, const float* values) {
  return static_cast<long>(a) + b + static_cast<long>(values[1]);
}

void registered_unknown(struct FILE_like* /*file*/, MPI_Comm /*over*/) {}
