/* Kernels that crash, helpers that vanish, hosts that die, forks, and nobody who spins. argv: libraries
 * of kernels, and of a constructor that crashes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ve_offload.h>

#include "check.h"

static const char* kernels;

struct party {
  struct veo_proc_handle* proc;
  struct veo_thr_ctxt *ctx, *other;
  uint64_t lib;
};

static struct party start(void) {
  struct party all = {veo_proc_create(0), NULL, NULL, 0};
  CHECK(all.proc != NULL);
  all.lib = veo_load_library(all.proc, kernels);
  all.ctx = veo_context_open(all.proc);
  all.other = veo_context_open(all.proc);
  CHECK(all.lib != 0 && all.ctx != NULL && all.other != NULL);
  return all;
}

static uint64_t submit(struct party* all, struct veo_thr_ctxt* ctx, const char* kernel, int64_t argument) {
  struct veo_args* args = veo_args_alloc();
  veo_args_set_i64(args, 0, argument);
  const uint64_t id = veo_call_async(ctx, veo_get_sym(all->proc, all->lib, kernel), args);
  veo_args_free(args);
  return id;
}

/* `state` is expected of a kernel on one context, while others wait behind it and on the other context. */
static void dies(const char* kernel, int argument, int state, int in_other, uint64_t expected) {
  struct party all = start();
  struct veo_thr_ctxt* ctx = in_other ? all.other : all.ctx;
  struct veo_thr_ctxt* beside = in_other ? all.ctx : all.other;
  uint64_t result = 0, addr = 0;
  const uint64_t count = veo_get_sym(all.proc, all.lib, "count");
  veo_get_sym(all.proc, all.lib, kernel);
  const uint64_t before = veo_call_async(ctx, count, NULL);
  const uint64_t busy = submit(&all, beside, "sleep_ms", 60000);
  const uint64_t queued = submit(&all, beside, "sleep_ms", 1);
  const uint64_t fatal = submit(&all, ctx, kernel, argument);
  const uint64_t behind = veo_call_async(ctx, count, NULL);
  CHECK(veo_call_wait_result(ctx, fatal, &result) == state);
  CHECK(state != VEO_COMMAND_EXCEPTION || result == expected);
  CHECK(veo_get_context_state(ctx) == VEO_STATE_EXIT && veo_get_context_state(beside) == VEO_STATE_EXIT);
  CHECK(veo_call_wait_result(ctx, behind, &result) == VEO_COMMAND_ERROR && result == 0);
  CHECK(veo_call_wait_result(beside, busy, &result) == VEO_COMMAND_ERROR && result == 0);
  CHECK(veo_call_wait_result(beside, queued, NULL) == VEO_COMMAND_ERROR);
  CHECK(veo_call_wait_result(ctx, before, &result) == VEO_COMMAND_OK && result == 1);
  CHECK(veo_call_async(ctx, count, NULL) == VEO_REQUEST_ID_INVALID && veo_call_sync(all.proc, count, NULL, NULL) == -1);
  CHECK(veo_read_mem(all.proc, &result, count, 8) == -1 && veo_write_mem(all.proc, count, &result, 8) == -1);
  CHECK(veo_alloc_mem(all.proc, &addr, 8) == -1 && veo_free_mem(all.proc, 64) == 0);
  CHECK(veo_load_library(all.proc, kernels) == 0 && veo_unload_library(all.proc, all.lib) == -1);
  CHECK(veo_get_sym(all.proc, all.lib, "hello") == 0 && veo_context_open(all.proc) == NULL);
  CHECK(veo_async_read_mem(ctx, &result, count, 8) == VEO_REQUEST_ID_INVALID);
  veo_context_sync(ctx);
  CHECK(veo_context_close(ctx) == 0 && veo_context_close(beside) == 0 && veo_proc_destroy(all.proc) == 0);
}

/* A library whose constructor crashes is not loaded. */
static void dies_while_it_loads(const char* library) {
  struct party all = start();
  CHECK(veo_load_library(all.proc, library) == 0 && veo_get_context_state(all.ctx) == VEO_STATE_EXIT);
  CHECK(veo_proc_destroy(all.proc) == 0);
}

static void* shoot(void* proc) {
  usleep(100000);
  kill(veo_get_pid_from_hmem(veo_set_proc_identifier(NULL, veo_proc_identifier(proc))), SIGKILL);
  return NULL;
}

static void killed_from_outside(void) {
  struct party all = start();
  pthread_t thread;
  const uint64_t busy = submit(&all, all.ctx, "spin", 0);
  const uint64_t copy = veo_async_read_mem(all.ctx, &all, 0, 100000);
  CHECK(pthread_create(&thread, NULL, &shoot, all.proc) == 0);
  CHECK(veo_call_wait_result(all.ctx, copy, NULL) == VEO_COMMAND_ERROR);
  CHECK(veo_call_wait_result(all.ctx, busy, NULL) == VEO_COMMAND_ERROR);
  CHECK(pthread_join(thread, NULL) == 0 && veo_get_context_state(all.ctx) == VEO_STATE_EXIT);
  CHECK(veo_proc_destroy(all.proc) == 0);
}

static double cpu_seconds(pid_t pid) {
  char path[64], line[1024] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* file = fopen(path, "r");
  CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
  fclose(file);
  unsigned long user = 0, system = 0;
  CHECK(sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2);
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Idle helpers, and a host that waits, use next to nothing; a tenth of a core is far from spinning. A busy machine may
   need more than one attempt. */
static void nobody_spins(void) {
  struct party all = start();
  const pid_t helper = veo_get_pid_from_hmem(veo_set_proc_identifier(NULL, veo_proc_identifier(all.proc)));
  int quiet = 0;
  for (int i = 0; i < 5 && !quiet; ++i) {
    const double began = now_seconds();
    const uint64_t slow = submit(&all, all.ctx, "sleep_ms", 2000);
    const double host_before = cpu_seconds(getpid()), helper_before = cpu_seconds(helper);
    CHECK(veo_call_wait_result(all.ctx, slow, NULL) == VEO_COMMAND_OK);
    const double allowed = 0.1 * (now_seconds() - began);
    quiet = cpu_seconds(getpid()) - host_before < allowed && cpu_seconds(helper) - helper_before < allowed;
  }
  CHECK(quiet);
  CHECK(veo_proc_destroy(all.proc) == 0 && kill(helper, 0) == -1 && errno == ESRCH);
}

/* A host that is killed leaves nothing behind. */
static void host_dies(void) {
  int news[2];
  enum { helpers = 8 };
  pid_t pids[helpers];
  CHECK(pipe(news) == 0);
  const pid_t host = fork();
  if (host == 0) {
    for (int i = 0; i < helpers; ++i) {
      struct party all = start();
      pids[i] = veo_get_pid_from_hmem(veo_set_proc_identifier(NULL, veo_proc_identifier(all.proc)));
      submit(&all, i % 2 ? all.ctx : all.other, "spin", 0);
    }
    CHECK(write(news[1], pids, sizeof pids) == sizeof pids);
    for (;;) pause();
  }
  CHECK(read(news[0], pids, sizeof pids) == sizeof pids);
  kill(host, SIGKILL);
  waitpid(host, NULL, 0);
  for (int i = 0; i < helpers; ++i) {
    int tries = 0;
    while (kill(pids[i], 0) == 0 && ++tries < 1000) usleep(10000);
    CHECK(tries < 1000);
  }
}

/* A child's copy of handles is of no use to it, and its end of no harm to the parent. */
static void forked_child(void) {
  struct party all = start();
  const uint64_t count = veo_get_sym(all.proc, all.lib, "count");
  const pid_t child = fork();
  if (child == 0) {
    CHECK(veo_call_sync(all.proc, count, NULL, NULL) == -1);
    CHECK(veo_call_async(all.ctx, count, NULL) == VEO_REQUEST_ID_INVALID);
    struct party own = start();
    CHECK(veo_proc_identifier(own.proc) == 0 &&
          veo_call_sync(own.proc, veo_get_sym(own.proc, own.lib, "count"), NULL, NULL) == 0);
    exit(7);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK(veo_call_sync(all.proc, count, NULL, NULL) == 0 && veo_proc_destroy(all.proc) == 0);
}

static void* start_and_call(void* unused) {
  struct party all = start();
  CHECK(veo_call_wait_result(all.ctx, submit(&all, all.ctx, "count", 0), NULL) == VEO_COMMAND_OK);
  return unused == NULL ? all.proc : NULL;
}

/* Helpers outlive the thread that made them; ignored children are no obstacle. */
static void of_a_thread(void) {
  pthread_t thread;
  void* proc = NULL;
  signal(SIGCHLD, SIG_IGN);
  CHECK(pthread_create(&thread, NULL, &start_and_call, NULL) == 0 && pthread_join(thread, &proc) == 0);
  usleep(50000);
  const uint64_t lib = veo_load_library(proc, kernels);
  CHECK(lib != 0 && veo_call_sync(proc, veo_get_sym(proc, lib, "count"), NULL, NULL) == 0);
  CHECK(veo_proc_destroy(proc) == 0);
  signal(SIGCHLD, SIG_DFL);
}

static uint64_t leave_from_here(void* status) {
  exit(*(int*)status);
  return 0;
}

/* exit() in a host function, while others wait. */
static void exit_in_host_function(void) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 3;
    struct party all = start();
    CHECK(veo_call_async_vh(all.ctx, &leave_from_here, &status) != VEO_REQUEST_ID_INVALID);
    veo_context_sync(all.ctx);
    for (;;) pause();
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  kernels = argv[1];
  host_dies();
  exit_in_host_function();
  forked_child();
  dies("crash", SIGSEGV, VEO_COMMAND_EXCEPTION, 0, SIGSEGV);
  dies("crash", SIGABRT, VEO_COMMAND_EXCEPTION, 1, SIGABRT);
  dies("crash", SIGFPE, VEO_COMMAND_EXCEPTION, 1, SIGFPE);
  dies("crash", SIGILL, VEO_COMMAND_EXCEPTION, 0, SIGILL);
  dies("crash", SIGKILL, VEO_COMMAND_ERROR, 0, 0);
  dies("overflow", 0, VEO_COMMAND_EXCEPTION, 1, SIGSEGV);
  dies("crash_in_thread", 0, VEO_COMMAND_EXCEPTION, 0, SIGSEGV);
  dies("leave", 3, VEO_COMMAND_ERROR, 0, 0);
  dies_while_it_loads(argv[2]);
  killed_from_outside();
  of_a_thread();
  nobody_spins();
  return 0;
}
