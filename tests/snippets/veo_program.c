/* The block at the beginning of docs/veo.md, as a program. */
#include <stdio.h>
#include <ve_offload.h>

int main(void) {
  double data[3] = {1, 2, 3};
#include "veo/call.inc"
  printf("state %d, sum %g, first %g\n", state, (double)result, data[0]);
  return veo_proc_destroy(proc);
}
