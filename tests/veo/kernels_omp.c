/* A kernel with OpenMP. */
#include <omp.h>
#include <stdint.h>

uint64_t omp_threads(void) {
  uint64_t threads = 0;
#pragma omp parallel
#pragma omp master
  threads = (uint64_t)omp_get_num_threads();
  return threads;
}
