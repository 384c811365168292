/* Kernels in C++, Fortran and with OpenMP, and helpers they are linked into: argv names the libraries and the helper;
 * "-" for what could not be built. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <ve_offload.h>

#include "check.h"

static int absent(const char* what) { return strcmp(what, "-") == 0; }

static uint64_t call(struct veo_proc_handle* proc, uint64_t lib, const char* name, struct veo_args* args) {
  uint64_t result = 0;
  const uint64_t kernel = veo_get_sym(proc, lib, name);
  CHECK(kernel != 0 && veo_call_sync(proc, kernel, args, &result) == 0);
  return result;
}

static void cxx(const char* library) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  const uint64_t lib = veo_load_library(proc, library);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_u64(args, 0, 1000);
  CHECK(call(proc, lib, "cxx_sum", args) == 500500);
  struct veo_thr_ctxt* ctx = veo_context_open(proc);
  uint64_t signal_number = 0;
  const uint64_t req = veo_call_async_by_name(ctx, lib, "cxx_throw", args);
  CHECK(veo_call_wait_result(ctx, req, &signal_number) == VEO_COMMAND_EXCEPTION && signal_number == SIGABRT);
  CHECK(veo_proc_destroy(proc) == 0);
  veo_args_free(args);
}

static void fortran(const char* library) {
  if (absent(library)) return;
  struct veo_proc_handle* proc = veo_proc_create(0);
  const uint64_t lib = veo_load_library(proc, library);
  struct veo_args* args = veo_args_alloc();
  int numbers[4] = {1, 2, 3, 4}, n = 4;
  veo_args_set_stack(args, VEO_INTENT_INOUT, 0, (char*)numbers, sizeof numbers);
  veo_args_set_stack(args, VEO_INTENT_IN, 1, (char*)&n, sizeof n);
  CHECK((int)call(proc, lib, "add_up_", args) == 10 && numbers[3] == 5);
  veo_args_clear(args);
  veo_args_set_i64(args, 0, 14);
  CHECK(call(proc, lib, "by_value", args) == 42 && veo_proc_destroy(proc) == 0);
  veo_args_free(args);
}

static void openmp(const char* library) {
  if (absent(library)) return;
  for (int threads = 1; threads <= 3; threads += 2) {
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    setenv("VE_OMP_NUM_THREADS", text, 1);
    struct veo_proc_handle* proc = veo_proc_create(0);
    unsetenv("VE_OMP_NUM_THREADS");
    const uint64_t lib = veo_load_library(proc, library);
    veo_context_open(proc);
    struct veo_thr_ctxt* ctx = veo_context_open(proc);
    uint64_t result = 0;
    CHECK(call(proc, lib, "omp_threads", NULL) == (uint64_t)threads);
    CHECK(veo_call_wait_result(ctx, veo_call_async_by_name(ctx, lib, "omp_threads", NULL), &result) == VEO_COMMAND_OK);
    CHECK(result == (uint64_t)threads);
  }
}

static void linked_in(const char* helper, const char* library) {
  if (absent(helper)) return;
  struct veo_proc_handle* proc = veo_proc_create_static(5, helper);
  CHECK(proc != NULL && veo_get_sym(proc, 0, "absent") == 0);
  const uint64_t before = call(proc, 0, "count", NULL);
  CHECK(call(proc, 0, "count", NULL) == before + 1 && veo_get_sym(proc, 0, "variable") != 0);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_u64(args, 0, 4);
  CHECK(call(proc, veo_load_library(proc, library), "cxx_sum", args) == 10);
  veo_args_free(args);
}

int main(int argc, char** argv) {
  CHECK(argc == 5);
  cxx(argv[1]);
  fortran(argv[2]);
  openmp(argv[3]);
  linked_in(argv[4], argv[1]);
  return 0;
}
