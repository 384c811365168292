/* Tagged pointers as arguments of kernels. argv: libraries of typed kernels with and without debug information, which
 * know nothing of tags, one of kernels that use veo_hmem.h, and a helper with these linked in, or "-". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <ve_offload.h>
#include <veo_ham.h>

#include "check.h"

static const double values[2] = {2.5, 3.5};
static struct veo_proc_handle* proc;
static uint64_t lib;
static void* tagged;
static struct veo_args* args;

/* What this process and its helpers write to stderr between begin and end. */
static int errors = -1, own_errors = -1;
static void begin_errors(void) {
  errors = open("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600);
  own_errors = dup(STDERR_FILENO);
  CHECK(errors >= 0 && own_errors >= 0 && dup2(errors, STDERR_FILENO) == STDERR_FILENO);
}
static const char* end_errors(void) {
  static char text[1 << 16];
  CHECK(dup2(own_errors, STDERR_FILENO) == STDERR_FILENO && close(own_errors) == 0);
  const ssize_t n = pread(errors, text, sizeof text - 1, 0);
  text[n < 0 ? 0 : n] = 0;
  close(errors);
  return text;
}

static void start(const char* library, char* helper) {
  proc = helper == NULL ? veo_proc_create(0) : veo_proc_create_static(0, helper);
  CHECK(proc != NULL && veo_alloc_hmem(proc, &tagged, sizeof values) == 0 && veo_is_ve_addr(tagged));
  CHECK(veo_hmemcpy(tagged, values, sizeof values) == 0);
  lib = helper == NULL ? veo_load_library(proc, library) : 0;
  CHECK(lib != 0 || helper != NULL);
}

static int try_call(const char* kernel, uint64_t* result) {
  const uint64_t addr = veo_get_sym(proc, lib, kernel);
  CHECK(addr != 0);
  const int state = veo_call_sync(proc, addr, args, result);
  veo_args_clear(args);
  return state;
}
static uint64_t call(const char* kernel) {
  uint64_t result = 0;
  CHECK(try_call(kernel, &result) == 0);
  return result;
}
static double real(uint64_t bits) {
  double result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* By signature, whatever the setter and whatever the position. */
static void dereferenced(const char* library) {
  start(library, NULL);
  const uint64_t bits = (uint64_t)tagged;
  veo_args_set_hmem(args, 0, tagged);
  CHECK(real(call("first_of")) == 2.5);
  veo_args_set_u64(args, 0, bits);
  CHECK(real(call("first_of")) == 2.5);
  veo_args_set_i64(args, 0, (int64_t)bits + 8);
  CHECK(real(call("first_of")) == 3.5);
  void* list = NULL;
  const uint64_t address = (uint64_t)veo_get_hmem_addr(tagged);
  CHECK(veo_alloc_hmem(proc, &list, 8) == 0 && veo_hmemcpy(list, &address, 8) == 0);
  for (int i = 0; i < 8; ++i) veo_args_set_i64(args, i, i);
  veo_args_set_hmem(args, 8, list);
  CHECK(real(call("last_of")) == 30.5);
  veo_args_set_hmem(args, 0, NULL);
  CHECK(call("bits_of") == 0);
  veo_args_set_hmem(args, 0, (void*)-1);
  CHECK(call("bits_of") == ~0UL);
  veo_args_set_hmem(args, 0, tagged);
  CHECK(call("bits_of") == address);
}

static void of_another_process(void) {
  struct veo_proc_handle* other = veo_proc_create(0);
  void* there = NULL;
  CHECK(other != NULL && veo_alloc_hmem(other, &there, 8) == 0);
  begin_errors();
  veo_args_set_i64(args, 1, 0);
  veo_args_set_hmem(args, 0, there);
  const int state = try_call("first_of", NULL);
  const char* text = end_errors();
  CHECK(state == -1 && strstr(text, "argument 0 of kernel first_of") != NULL);
  CHECK(strstr(text, "identifier 1") != NULL && strstr(text, "identifier 0") != NULL);
  veo_args_set_hmem(args, 0, tagged);
  CHECK(real(call("first_of")) == 2.5); /* nothing is broken */
  CHECK(veo_proc_destroy(other) == 0);
}

/* What keeps its tag and is dereferenced all the same is a fault that has a name. */
static void faulting(const char* kernel, const char* library, int by_setter) {
  begin_errors();
  start(library, NULL);
  if (by_setter) veo_args_set_hmem(args, 0, tagged);
  if (!by_setter) veo_args_set_u64(args, 0, (uint64_t)tagged);
  uint64_t result = 0;
  const int state = try_call(kernel, &result);
  CHECK(veo_proc_destroy(proc) == 0);
  const char* text = end_errors();
#ifdef __x86_64__ /* other machines may ignore the tag */
  CHECK(state == -1 && result == SIGSEGV);
  CHECK(strstr(text, kernel) != NULL && strstr(text, "argument 0 was the hmem pointer 0x8") != NULL);
#else
  (void)state, (void)text;
#endif
}

int main(int argc, char** argv) {
  CHECK(argc == 5);
  args = veo_args_alloc();
  dereferenced(argv[1]);
  of_another_process();
  CHECK(veo_proc_destroy(proc) == 0);

  start(argv[2], NULL); /* no types: the setter tells */
  veo_args_set_hmem(args, 0, tagged);
  veo_ham_args_set_result(args, VEO_HAM_RESULT_DOUBLE);
  CHECK(real(call("first_of")) == 2.5);
  CHECK(veo_proc_destroy(proc) == 0);

  for (int linked_in = 0; linked_in < (strcmp(argv[4], "-") == 0 ? 1 : 2); ++linked_in) {
    start(argv[3], linked_in ? argv[4] : NULL); /* these kernels see the tag */
    veo_args_set_hmem(args, 0, tagged);
    uint64_t bits;
    memcpy(&bits, values, sizeof bits);
    CHECK(call("hmem_first") == bits);
    CHECK(veo_proc_destroy(proc) == 0);
  }

  faulting("second_of", argv[1], 1);
  faulting("first_of", argv[2], 0);
  faulting("hmem_raw", argv[3], 1);
  veo_args_free(args);
  return 0;
}
