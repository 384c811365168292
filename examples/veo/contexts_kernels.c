// Kernels of contexts.c.
#include <stdint.h>

static __thread int64_t calls;

// The integral of 4 / (1 + x * x) over one of `parts` parts of 0 to 1.
double part_of_pi(int64_t part, int64_t parts) {
  const int steps = 1000;
  const double width = 1.0 / (double)parts / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = (double)part / (double)parts + (i + 0.5) * width;
    sum += 4 / (1 + x * x) * width;
  }
  ++calls;
  return sum;
}

int64_t calls_here(void) { return calls; }
