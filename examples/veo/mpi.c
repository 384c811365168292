// Kernels of two helpers talk MPI with each other; this program itself does not call MPI. Started by mpirun -n 2, each
// process has a helper of its own, which takes its place in the MPI job.
// expect: ^helper 0: pi is about 3.14159265, its neighbour passed 101$
// expect: ^helper 1: pi is about 3.14159265, its neighbour passed 100$
#include <stdio.h>
#include <string.h>
#include <ve_offload.h>

static uint64_t call(struct veo_thr_ctxt* ctx, uint64_t lib, const char* kernel, int64_t argument) {
  struct veo_args* args = veo_args_alloc();
  veo_args_set_i64(args, 0, argument);
  uint64_t result = UINT64_MAX;
  const uint64_t request = veo_call_async_by_name(ctx, lib, kernel, args);
  if (veo_call_wait_result(ctx, request, &result) != VEO_COMMAND_OK) fprintf(stderr, "no result of %s\n", kernel);
  veo_args_free(args);
  return result;
}

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  if (proc == NULL) return 1;
  const uint64_t lib = veo_load_library(proc, "./libmpi_kernels.so");
  if (lib == 0) return 1;
  struct veo_thr_ctxt* ctx = veo_context_open(proc);  // one thread: that of all calls of MPI

  const int64_t rank = (int64_t)call(ctx, lib, "join", 0);
  if (rank < 0) return 1;
  const uint64_t bits = call(ctx, lib, "pi", 1000000);
  double pi;
  memcpy(&pi, &bits, sizeof pi);
  const int64_t passed = (int64_t)call(ctx, lib, "pass_on", 100 + rank);
  printf("helper %ld: pi is about %.8f, its neighbour passed %ld\n", (long)rank, pi, (long)passed);
  fflush(stdout);
  const int failed = call(ctx, lib, "leave", 0) != 0;

  veo_context_close(ctx);
  return veo_proc_destroy(proc) != 0 || failed;
}
