// Several contexts of one helper: each executes its calls in order, on a thread of its own, beside the others.
// expect: ^4 contexts, 1000 calls: pi is about 3.14159265$
// expect: ^each on a thread of its own: yes$
#include <stdio.h>
#include <string.h>
#include <ve_offload.h>

enum { contexts = 4, calls = 1000 };

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  if (proc == NULL) return 1;
  const uint64_t lib = veo_load_library(proc, "./libcontexts_kernels.so");
  const uint64_t part_of_pi = veo_get_sym(proc, lib, "part_of_pi");
  struct veo_thr_ctxt* ctx[contexts];
  for (int i = 0; i < contexts; ++i) ctx[i] = veo_context_open(proc);

  // All calls are submitted before the first result is wanted.
  uint64_t requests[calls];
  struct veo_args* args = veo_args_alloc();
  for (int i = 0; i < calls; ++i) {
    veo_args_set_i64(args, 0, i);
    veo_args_set_i64(args, 1, calls);
    requests[i] = veo_call_async(ctx[i % contexts], part_of_pi, args);
  }
  double pi = 0;
  for (int i = 0; i < calls; ++i) {
    uint64_t bits = 0;
    double part = 0;
    if (veo_call_wait_result(ctx[i % contexts], requests[i], &bits) != VEO_COMMAND_OK) return 1;
    memcpy(&part, &bits, sizeof part);
    pi += part;
  }
  printf("%d contexts, %d calls: pi is about %.8f\n", contexts, calls, pi);

  // Thread-local variables of a context stay from call to call.
  uint64_t count = 0, sum = 0;
  veo_args_clear(args);
  for (int i = 0; i < contexts; ++i) {
    if (veo_call_wait_result(ctx[i], veo_call_async_by_name(ctx[i], lib, "calls_here", args), &count) != VEO_COMMAND_OK)
      return 1;
    if (count != calls / contexts) return 1;
    sum += count;
  }
  printf("each on a thread of its own: %s\n", sum == calls ? "yes" : "no");
  veo_args_free(args);
  return veo_proc_destroy(proc);
}
