// A helper with kernels linked in, made by mk_veorun_static: no library is loaded, its symbols are those of library 0.
// expect: ^Hello from a kernel$
// expect: ^the kernel has returned 42$
#include <stdio.h>
#include <ve_offload.h>

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create_static(0, "./veorun_hello");
  if (proc == NULL) return 1;
  struct veo_args* args = veo_args_alloc();
  veo_args_set_i64(args, 0, 6);
  veo_args_set_i64(args, 1, 7);
  uint64_t result = 0;
  if (veo_call_sync(proc, veo_get_sym(proc, 0, "hello"), args, &result) != 0) return 1;
  printf("the kernel has returned %ld\n", (long)result);
  veo_args_free(args);
  return veo_proc_destroy(proc);
}
