// A kernel that calls functions of the host (VHcall): it reports how far it is, and asks for a number.
// expect: ^host: 50 % done$
// expect: ^host: 100 % done$
// expect: ^the kernel has returned 5050$
#include <stdio.h>
#include <ve_offload.h>

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  if (proc == NULL) return 1;
  const uint64_t lib = veo_load_library(proc, "./libvhcall_kernels.so");
  uint64_t result = 0;
  if (veo_call_sync(proc, veo_get_sym(proc, lib, "sum_up"), NULL, &result) != 0) return 1;
  printf("the kernel has returned %ld\n", (long)result);
  return veo_proc_destroy(proc);
}
