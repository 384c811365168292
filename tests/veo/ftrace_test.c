/* Helpers that profile kernels. argv: library of kernels, aveorun-ftrace, a helper linked with -ftrace or "-". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <ve_offload.h>

#include "check.h"

/* Where a kernel is in a table; NULL: nowhere. */
static const char* place_of(const char* text, const char* kernel) {
  char loaded[64], linked_in[64];
  snprintf(loaded, sizeof loaded, "  %s in ", kernel); /* its library follows */
  snprintf(linked_in, sizeof linked_in, "  %s\n", kernel);
  const char* place = strstr(text, loaded);
  return place == NULL ? strstr(text, linked_in) : place;
}

/* How often it was called. */
static long calls_in(const char* text, const char* kernel) {
  const char* at = place_of(text, kernel);
  if (at == NULL) return -1;
  while (at > text && at[-1] != '\n') --at;
  return strtol(at, NULL, 10);
}

static const char* content_of(int file) {
  static char text[1 << 16];
  const ssize_t n = pread(file, text, sizeof text - 1, 0);
  text[n < 0 ? 0 : n] = 0;
  return text;
}

static void work(struct veo_proc_handle* proc, uint64_t lib) {
  CHECK(proc != NULL);
  struct veo_thr_ctxt *ctx = veo_context_open(proc), *other = veo_context_open(proc);
  struct veo_args* args = veo_args_alloc();
  for (int i = 0; i < 7; ++i) CHECK(veo_call_async_by_name(i % 2 ? ctx : other, lib, "count", args) != ~0UL);
  veo_args_set_u64(args, 0, 20);
  uint64_t result = 0;
  CHECK(veo_call_wait_result(ctx, veo_call_async_by_name(ctx, lib, "sleep_ms", args), &result) == VEO_COMMAND_OK);
  veo_args_free(args);
  CHECK(veo_proc_destroy(proc) == 0);
}

static void check_table(const char* text) {
  CHECK(strstr(text, "FTRACE of helper ") != NULL && strstr(text, "  kernel\n") != NULL);
  CHECK(calls_in(text, "count") == 7 && calls_in(text, "sleep_ms") == 1);
  CHECK(place_of(text, "sleep_ms") < place_of(text, "count")); /* the longest time comes first */
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  /* To the helper's stderr. */
  const int errors = open("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600), own = dup(STDERR_FILENO);
  CHECK(errors >= 0 && own >= 0);
  dup2(errors, STDERR_FILENO);
  setenv("VEORUN_BIN", argv[2], 1);
  struct veo_proc_handle* proc = veo_proc_create(0);
  work(proc, veo_load_library(proc, argv[1]));
  if (strcmp(argv[3], "-") != 0) {
    dup2(own, STDERR_FILENO);
    check_table(content_of(errors));
    CHECK(ftruncate(errors, 0) == 0);
    dup2(errors, STDERR_FILENO);
    work(veo_proc_create_static(0, argv[3]), 0);
  }
  dup2(own, STDERR_FILENO);
  check_table(content_of(errors));

  /* To a file. */
  char name[] = "/tmp/ham-ftrace-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  setenv("VE_FTRACE_OUT_NAME", name, 1);
  proc = veo_proc_create(0);
  work(proc, veo_load_library(proc, argv[1]));
  check_table(content_of(file));
  unlink(name);

  /* Other helpers say nothing. */
  CHECK(ftruncate(file, 0) == 0 && ftruncate(errors, 0) == 0);
  unsetenv("VE_FTRACE_OUT_NAME");
  unsetenv("VEORUN_BIN");
  dup2(errors, STDERR_FILENO);
  proc = veo_proc_create(0);
  work(proc, veo_load_library(proc, argv[1]));
  dup2(own, STDERR_FILENO);
  CHECK(strstr(content_of(errors), "FTRACE") == NULL);
  return 0;
}
