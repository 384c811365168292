/* Kernels that call functions of this process. argv: library of the kernels, the host's library, a helper that has the
 * kernels linked in or "-". */
#define _GNU_SOURCE
#include <dirent.h>
#include <libvhcall.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <ve_offload.h>

#include "check.h"
#include "host_program.h"

static const char *kernels, *host_library;

static uint64_t submit(struct veo_thr_ctxt* ctx, const char* kernel, const char* text, long a, long b) {
  struct veo_args* args = veo_args_alloc();
  int n = 0;
  if (text != NULL) veo_args_set_stack(args, VEO_INTENT_IN, n++, (char*)text, strlen(text) + 1);
  veo_args_set_i64(args, n++, a);
  veo_args_set_i64(args, n, b);
  const uint64_t id = veo_call_async_by_name(ctx, the_library, kernel, args);
  CHECK(id != VEO_REQUEST_ID_INVALID);
  veo_args_free(args);
  return id;
}

static long result_of(struct veo_thr_ctxt* ctx, uint64_t id) {
  uint64_t result = 0;
  CHECK(veo_call_wait_result(ctx, id, &result) == VEO_COMMAND_OK);
  return (long)result;
}

static long run(const char* kernel, const char* text, long a, long b) {
  return result_of(the_context, submit(the_context, kernel, text, a, b));
}

static void begin(const char* helper) {
  the_proc = helper == NULL ? veo_proc_create(0) : veo_proc_create_static(0, helper);
  CHECK(the_proc != NULL);
  the_library = helper == NULL ? veo_load_library(the_proc, kernels) : 0;
  CHECK(helper != NULL || the_library != 0);
  the_context = veo_context_open(the_proc);
  CHECK(run("install", host_library, 0, 0) == 0);
}

static void end(void) { CHECK(veo_proc_destroy(the_proc) == 0); }

static void calls(void) {
  CHECK(run("buffers", NULL, 100, 0) == 0);
  CHECK(run("buffers", NULL, 5000000, 0) == 0);
  CHECK(run("arguments", NULL, 0, 0) == 0);
  CHECK(run("errors", NULL, 0, 0) == 0);
  CHECK(run("uninstall", host_library, 0, 0) == 0);
  CHECK(run("call_by_name", "add", 40, 2) == 42);
  CHECK(run("on_own_thread", NULL, 0, 0) == 42);
}

/* The program computes, and does not call libveo until a function of it has run. */
static void without_waiting(void) {
  const uint64_t id = submit(the_context, "call_by_name", "arrive", 1, 2);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 60;
  while (sem_timedwait(&arrived, &limit) != 0) CHECK(errno == EINTR);
  CHECK(result_of(the_context, id) == 3);
}

static void contexts(void) {
  struct veo_thr_ctxt* all[4] = {the_context};
  for (int i = 1; i < 4; ++i) CHECK((all[i] = veo_context_open(the_proc)) != NULL);
  CHECK(pthread_barrier_init(&meeting, NULL, 4) == 0);
  uint64_t ids[4];
  for (int i = 0; i < 4; ++i) ids[i] = submit(all[i], "call_by_name", "gather", i, 1); /* at the same time */
  for (int i = 0; i < 4; ++i) CHECK(result_of(all[i], ids[i]) == i + 1);
  counted = 0;
  for (int i = 0; i < 4; ++i) ids[i] = submit(all[i], "many", NULL, 200, 0);
  for (int i = 0; i < 4; ++i) CHECK(result_of(all[i], ids[i]) == 0);
  CHECK(counted == 800);
  pthread_barrier_destroy(&meeting);
  for (int i = 1; i < 4; ++i) CHECK(veo_context_close(all[i]) == 0);
}

/* A kernel does not begin while an earlier one of its context waits for the host. */
static void order(void) {
  const uint64_t first = submit(the_context, "waits_a_while", NULL, 0, 0);
  const uint64_t second = submit(the_context, "how_far", NULL, 0, 0);
  CHECK(result_of(the_context, second) == 2 && result_of(the_context, first) == 0);
}

static void nested(void) {
  CHECK(run("call_by_name", "use_veo", 0, 0) == 0);
  CHECK(run("call_by_name", "use_veo", 3, 0) == 0);
  const uint64_t first = submit(the_context, "waits_a_while", NULL, 0, 0);
  const uint64_t outer = submit(the_context, "call_by_name", "use_veo", 0, 0);
  later_request = submit(the_context, "how_far", NULL, 0, 0);
  CHECK(result_of(the_context, first) == 0 && result_of(the_context, outer) == 0);
  CHECK(result_of(the_context, later_request) == 2);
  later_request = VEO_REQUEST_ID_INVALID;
}

static int threads_of(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
  DIR* const tasks = opendir(path);
  CHECK(tasks != NULL);
  int count = 0;
  for (const struct dirent* one; (one = readdir(tasks)) != NULL;) count += one->d_name[0] != '.';
  closedir(tasks);
  return count;
}

static pid_t helper_pid(void) {
  void* tagged = veo_set_proc_identifier(NULL, veo_proc_identifier(the_proc));
  return veo_get_pid_from_hmem(tagged);
}

/* A thread of a kernel's that has ended leaves none behind, here or there, also where functions of the host that it has
 * called had kernels called that call the host. */
static void threads_end(void) {
  int here = 0, there = 0, tries = 0;
  for (int i = 0; i < 6; ++i) {
    CHECK(run("nested_on_own_thread", NULL, 2, 0) == 0);
    if (i > 0) continue;
    usleep(300000);
    here = threads_of(getpid());
    there = threads_of(helper_pid());
  }
  while (threads_of(getpid()) > here || threads_of(helper_pid()) > there) {
    CHECK(++tries < 200);
    usleep(50000);
  }
}

/* The helper dies while a function that it has called runs. */
static void death(void) {
  begin(NULL);
  const uint64_t id = submit(the_context, "call_by_name", "stay", 0, 0);
  while (sem_wait(&arrived) != 0) continue;
  CHECK(kill(helper_pid(), SIGKILL) == 0);
  CHECK(veo_call_wait_result(the_context, id, NULL) == VEO_COMMAND_ERROR);
  end();
  sem_post(&released);
  begin(NULL);
  CHECK(run("call_by_name", "add", 1, 1) == 2);
  end();
}

/* exit() in a function that a kernel has called. */
static void leaving(void) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    begin(NULL);
    submit(the_context, "call_by_name", "leave", 33, 0);
    for (;;) pause();
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 33);
}

static void all_of(const char* helper) {
  begin(helper);
  calls();
  without_waiting();
  contexts();
  order();
  nested();
  threads_end();
  end();
}

/* Not in a helper: an error. */
static void no_helper(void) {
  CHECK(vhcall_install(host_library) == VHCALL_HANDLE_INVALID && errno == ENOSYS);
  CHECK(vhcall_find(1, "add") == -1 && vhcall_args_alloc() == NULL && vhcall_uninstall(1) == -1);
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  kernels = argv[1];
  host_library = argv[2];
  CHECK(sem_init(&arrived, 0, 0) == 0 && sem_init(&released, 0, 0) == 0);
  no_helper();
  all_of(NULL);
  all_of(NULL); /* another helper: what the first one had installed is gone */
  if (strcmp(argv[3], "-") != 0) all_of(argv[3]);
  death();
  leaving();
  return 0;
}
