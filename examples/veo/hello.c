// The smallest VEO program: a helper, a library of kernels, a call, its result.
// expect: ^Hello from a kernel$
// expect: ^the kernel has returned 42$
#include <stdio.h>
#include <ve_offload.h>

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  if (proc == NULL) return 1;
  const uint64_t lib = veo_load_library(proc, "./libhello_kernels.so");
  struct veo_thr_ctxt* ctx = veo_context_open(proc);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_i64(args, 0, 6);
  veo_args_set_i64(args, 1, 7);

  const uint64_t request = veo_call_async_by_name(ctx, lib, "hello", args);
  uint64_t result = 0;
  if (veo_call_wait_result(ctx, request, &result) != VEO_COMMAND_OK) return 1;
  printf("the kernel has returned %ld\n", (long)result);

  veo_args_free(args);
  return veo_proc_destroy(proc);
}
