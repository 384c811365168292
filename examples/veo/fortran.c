// Kernels in Fortran: arguments are references, hence stack arguments; VALUE arguments take the plain setters.
// expect: ^norm: 5.0, and the vector is 0.6 0.8$
// expect: ^twice 21 is 42$
#include <stdio.h>
#include <string.h>
#include <ve_offload.h>

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  if (proc == NULL) return 1;
  const uint64_t lib = veo_load_library(proc, "./libfortran_kernels.so");
  double x[2] = {3, 4}, norm = 0;
  int n = 2;
  struct veo_args* args = veo_args_alloc();
  veo_args_set_stack(args, VEO_INTENT_INOUT, 0, (char*)x, sizeof x);
  veo_args_set_stack(args, VEO_INTENT_IN, 1, (char*)&n, sizeof n);
  uint64_t result = 0;
  if (veo_call_sync(proc, veo_get_sym(proc, lib, "normalise_"), args, &result) != 0) return 1;
  memcpy(&norm, &result, sizeof norm);
  printf("norm: %.1f, and the vector is %.1f %.1f\n", norm, x[0], x[1]);

  veo_args_clear(args);
  veo_args_set_i64(args, 0, 21);
  if (veo_call_sync(proc, veo_get_sym(proc, lib, "twice"), args, &result) != 0) return 1;
  printf("twice 21 is %ld\n", (long)result);
  veo_args_free(args);
  return veo_proc_destroy(proc);
}
