/* What kernels need besides themselves. argv: libraries of kernels that need libaveoVE and libveohmem, linked without
 * and with a search path of their own; a helper with Fortran kernels linked in, one with a kernel that contains HAM;
 * "-" for what could not be built. */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <ve_offload.h>

#include "check.h"

static uint64_t call(struct veo_proc_handle* proc, uint64_t lib, const char* name, struct veo_args* args) {
  uint64_t result = 0;
  const uint64_t kernel = veo_get_sym(proc, lib, name);
  CHECK(kernel != 0 && veo_call_sync(proc, kernel, args, &result) == 0);
  return result;
}

/* Beside the helper, wherever that is: the loader is told nothing. */
static void found_by_the_helper(const char* library, char* helper) {
  struct veo_proc_handle* proc = helper == NULL ? veo_proc_create(0) : veo_proc_create_static(0, helper);
  CHECK(proc != NULL);
  const uint64_t lib = veo_load_library(proc, library);
  CHECK(lib != 0 && call(proc, lib, "answer", NULL) == 42 && veo_proc_destroy(proc) == 0);
}

static void fortran(char* helper) {
  if (strcmp(helper, "-") == 0) return;
  struct veo_proc_handle* proc = veo_proc_create_static(0, helper);
  struct veo_args* args = veo_args_alloc();
  const int number = 471;
  char text[8] = "";
  CHECK(proc != NULL);
  veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)&number, sizeof number);
  veo_args_set_stack(args, VEO_INTENT_OUT, 1, text, 4);
  CHECK((int)call(proc, 0, "write_number_", args) == 4 && memcmp(text, " 471", 4) == 0);
  veo_args_free(args);
  CHECK(veo_proc_destroy(proc) == 0);
}

static void ham_in_a_kernel(char* helper) {
  if (strcmp(helper, "-") == 0) return;
  struct veo_proc_handle* proc = veo_proc_create_static(0, helper);
  struct veo_args* args = veo_args_alloc();
  CHECK(proc != NULL);
  for (uint64_t i = 1; i < 4; ++i) {
    veo_args_set_u64(args, 0, i);
    CHECK(call(proc, 0, "ham_inside", args) == 3 * i);
  }
  struct veo_thr_ctxt* ctx = veo_context_open(proc);
  uint64_t result = 0;
  const uint64_t req = veo_call_async_by_name(ctx, 0, "ham_inside", args);
  CHECK(veo_call_wait_result(ctx, req, &result) == VEO_COMMAND_OK && result == 9);
  veo_args_free(args);
  CHECK(veo_proc_destroy(proc) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 5);
  unsetenv("LD_LIBRARY_PATH");
  found_by_the_helper(argv[1], NULL);
  found_by_the_helper(argv[2], NULL);
  if (strcmp(argv[4], "-") != 0) found_by_the_helper(argv[2], argv[4]);
  fortran(argv[3]);
  ham_in_a_kernel(argv[4]);
  return 0;
}
