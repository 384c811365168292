// Memory of a helper: allocated, written and read by the host, worked on by kernels; a stack argument; tagged pointers.
// expect: ^scaled by 2.5: sum 1248750.0$
// expect: ^minimum 0.0, maximum 2497.5$
// expect: ^tagged: yes, of proc 0; copied back: 2497.5$
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ve_offload.h>

enum { n = 1000 };

// What went wrong, and the end.
static void fail(const char* what) {
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static double real(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

int main(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  if (proc == NULL) fail("veo_proc_create");
  const uint64_t lib = veo_load_library(proc, "./libmemory_kernels.so");
  double x[n];
  for (int i = 0; i < n; ++i) x[i] = i;

  // An array in the helper, which stays there between calls.
  uint64_t there = 0, result = 0;
  if (veo_alloc_mem(proc, &there, sizeof x) != 0) fail("veo_alloc_mem");
  if (veo_write_mem(proc, there, x, sizeof x) != 0) fail("veo_write_mem");
  struct veo_args* args = veo_args_alloc();
  veo_args_set_double(args, 0, 2.5);
  veo_args_set_u64(args, 1, there);
  veo_args_set_i64(args, 2, n);
  if (veo_call_sync(proc, veo_get_sym(proc, lib, "scale"), args, &result) != 0) fail("scale");
  printf("scaled by 2.5: sum %.1f\n", real(result));

  // A small result by pointer: a stack argument.
  double range[2];
  veo_args_clear(args);
  veo_args_set_u64(args, 0, there);
  veo_args_set_i64(args, 1, n);
  veo_args_set_stack(args, VEO_INTENT_OUT, 2, (char*)range, sizeof range);
  if (veo_call_sync(proc, veo_get_sym(proc, lib, "find_range"), args, NULL) != 0) fail("find_range");
  printf("minimum %.1f, maximum %.1f\n", range[0], range[1]);

  // A pointer that says whose memory it points to.
  void* tagged = NULL;
  if (veo_alloc_hmem(proc, &tagged, sizeof x) != 0) fail("veo_alloc_hmem");
  if (veo_read_mem(proc, x, there, sizeof x) != 0) fail("veo_read_mem");
  if (veo_hmemcpy(tagged, x, sizeof x) != 0) fail("veo_hmemcpy");
  double last = 0;
  veo_hmemcpy(&last, (char*)tagged + (n - 1) * sizeof last, sizeof last);
  printf("tagged: %s, of proc %d; copied back: %.1f\n", veo_is_ve_addr(tagged) ? "yes" : "no",
         veo_get_proc_identifier_from_hmem(tagged), last);

  veo_free_hmem(tagged);
  veo_free_mem(proc, there);
  veo_args_free(args);
  return veo_proc_destroy(proc);
}
