// Kernels of memory.c.
#include <stdint.h>

double scale(double factor, double* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] *= factor;
  return sum;
}

void find_range(const double* x, int64_t n, double* range) {
  range[0] = range[1] = x[0];
  for (int64_t i = 1; i < n; ++i) {
    if (x[i] < range[0]) range[0] = x[i];
    if (x[i] > range[1]) range[1] = x[i];
  }
}
