/* VE_CORE_NUMBER: argv[1] is the library of kernels. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>
#include <ve_offload.h>

#include "check.h"

static const char* kernels;

static uint64_t call(struct veo_thr_ctxt* ctx, uint64_t lib, const char* kernel) {
  uint64_t result = 0;
  CHECK(veo_call_wait_result(ctx, veo_call_async_by_name(ctx, lib, kernel, NULL), &result) == VEO_COMMAND_OK);
  return result;
}

/* Contexts are bound to the core with this number and to those behind it. */
static void bound(int number, const int* cores, int count) {
  char text[16];
  snprintf(text, sizeof text, "%d", number);
  setenv("VE_CORE_NUMBER", text, 1);
  struct veo_proc_handle* proc = veo_proc_create(0);
  CHECK(proc != NULL);
  const uint64_t lib = veo_load_library(proc, kernels);
  for (int i = 0; i < 4; ++i) {
    struct veo_thr_ctxt* ctx = veo_context_open(proc);
    CHECK(ctx != NULL && call(ctx, lib, "number_of_cores") == 1);
    CHECK(call(ctx, lib, "core") == (uint64_t)cores[(number + i) % count]);
  }
  CHECK(veo_proc_destroy(proc) == 0);
}

static void refused(const char* number) {
  setenv("VE_CORE_NUMBER", number, 1);
  CHECK(veo_proc_create(0) == NULL);
}

/* The same in a process that may use one core only: those that it may use are counted. */
static int again_with(int core, char* program) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  const pid_t pid = fork();
  if (pid == 0) {
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    execl(program, program, kernels, "again", NULL);
    _exit(127);
  }
  int status = 1;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  return status != 0;
}

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  kernels = argv[1];
  cpu_set_t all;
  int cores[CPU_SETSIZE], count = 0;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all)) cores[count++] = i;
  }
  for (int i = 0; i < count && i < 3; ++i) bound(i, cores, count);
  bound(count - 1, cores, count);
  char text[16];
  snprintf(text, sizeof text, "%d", count);
  refused(text);
  refused("-1");
  refused("first");
  refused("0x1");

  unsetenv("VE_CORE_NUMBER");
  struct veo_proc_handle* proc = veo_proc_create(0);
  const uint64_t lib = veo_load_library(proc, kernels);
  CHECK(call(veo_context_open(proc), lib, "number_of_cores") == (uint64_t)count);
  CHECK(veo_proc_destroy(proc) == 0);
  return argc == 2 ? again_with(cores[count - 1], argv[0]) : 0;
}
