/* What the block at the beginning of docs/veo.md calls: multiplies the first of three values, returns the sum of what
 * came. */
#include <stdint.h>

uint64_t kernel(double* data) {
  const double sum = data[0] + data[1] + data[2];
  data[0] *= 10;
  return (uint64_t)sum;
}
