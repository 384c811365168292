/* Helpers that this process does not start, and helpers of another instruction set. argv: key file's name, helper,
 * library of kernels, tcp or exec; for exec, words of the command. Exit status 77: the tools are not there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <ve_offload.h>
#include <veo_ham.h>

#include "check.h"
#include "host_program.h"

static pid_t run(char* const* command, int errors) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (errors >= 0) dup2(errors, STDERR_FILENO);
    execv(command[0], command);
    _exit(127);
  }
  return pid;
}

/* A helper that waits for hosts; `nodes` gets its address. */
static pid_t serve(char* helper, char* key, char* nodes, size_t size) {
  char make_key[512], use_key[512], text[4096] = "";
  snprintf(make_key, sizeof make_key, "--ham-make-key=%s", key);
  snprintf(use_key, sizeof use_key, "--ham-key=%s", key);
  unlink(key);
  int status = 0, news[2];
  waitpid(run((char*[]){helper, make_key, NULL}, -1), &status, 0);
  CHECK(access(key, R_OK) == 0 && pipe2(news, O_CLOEXEC) == 0);
  const pid_t pid = run((char*[]){helper, "--ham-serve=127.0.0.1:0", use_key, NULL}, news[1]);
  close(news[1]);
  size_t got = 0;
  while (strchr(text, '\n') == NULL) {
    const ssize_t more = read(news[0], text + got, sizeof text - 1 - got);
    CHECK(more > 0);
    got += (size_t)more;
  }
  fprintf(stderr, "%s", text);
  if (strstr(text, " at ") == NULL) exit(77); /* built without what tcp needs */
  *strchr(text, '\n') = 0;
  snprintf(nodes, size, "3=tcp://%s", strstr(text, " at ") + 4);
  return pid;
}

static uint64_t sync_call(struct veo_proc_handle* proc, uint64_t lib, const char* kernel, struct veo_args* args) {
  uint64_t result = 0;
  const uint64_t addr = veo_get_sym(proc, lib, kernel);
  CHECK(addr != 0 && veo_call_sync(proc, addr, args, &result) == 0);
  return result;
}

static void arguments(struct veo_proc_handle* proc, uint64_t lib) {
  struct veo_args* args = veo_args_alloc();
  veo_args_set_i8(args, 0, -8), veo_args_set_i16(args, 1, -16), veo_args_set_i32(args, 2, -32);
  veo_args_set_i64(args, 3, -64), veo_args_set_u8(args, 4, 208), veo_args_set_u16(args, 5, 50000);
  veo_args_set_u32(args, 6, 4000000000U), veo_args_set_u64(args, 7, 10000000000000000000UL);
  veo_args_set_i8(args, 8, -1);
  for (int i = 0; i < 10; ++i) veo_args_set_double(args, 9 + i, i + 0.5);
  veo_args_set_float(args, 19, 1.25F);
  CHECK(sync_call(proc, lib, "all_kinds", args) == 1);
  veo_args_clear(args);
  int32_t in[100], inout[100];
  int64_t out = 1;
  for (int i = 0; i < 100; ++i) in[i] = inout[i] = i;
  veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)in, sizeof in);
  veo_args_set_u64(args, 1, 100);
  veo_args_set_stack(args, VEO_INTENT_INOUT, 2, (char*)inout, sizeof inout);
  veo_args_set_stack(args, VEO_INTENT_OUT, 3, (char*)&out, sizeof out);
  CHECK(sync_call(proc, lib, "stacks", args) == 0 && out == 4950 && inout[99] == 198);
  veo_args_free(args);
}

static void memory(struct veo_proc_handle* proc, struct veo_thr_ctxt* ctx, uint64_t lib) {
  const size_t size = 3000001;
  char *from = malloc(size), *to = calloc(1, size);
  uint64_t addr = 0, result = 0;
  memset(from, 3, size);
  CHECK(veo_alloc_mem(proc, &addr, size + 1) == 0 && veo_write_mem(proc, addr + 1, from, size) == 0);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_u64(args, 0, addr + 1), veo_args_set_u64(args, 1, size);
  CHECK(sync_call(proc, lib, "sum_bytes", args) == 3 * size);
  CHECK(veo_call_wait_result(ctx, veo_async_read_mem(ctx, to, addr + 1, size), &result) == VEO_COMMAND_OK);
  CHECK(memcmp(from, to, size) == 0);
  memset(from, 4, size);
  CHECK(veo_async_write_mem(ctx, addr + 1, from, size) != VEO_REQUEST_ID_INVALID);
  const uint64_t sum = veo_call_async(ctx, veo_get_sym(proc, lib, "sum_bytes"), args);
  CHECK(veo_call_wait_result(ctx, sum, &result) == VEO_COMMAND_OK && result == 4 * size);
  CHECK(veo_read_mem(proc, to, addr + 1, size) == 0 && memcmp(from, to, size) == 0);
  CHECK(veo_read_mem(proc, to, 8, 8) == -1 && veo_write_mem(proc, 8, to, 8) == -1);
  int64_t variable = 0;
  CHECK(veo_read_mem(proc, &variable, veo_get_sym(proc, lib, "variable"), 8) == 0 && variable == 4711);
  CHECK(veo_free_mem(proc, addr) == 0);
  veo_args_free(args);
  free(from);
  free(to);
}

/* Kernels call functions of this process, which use the helper's memory and have kernels called. */
static void host_functions(const char* kernels, const char* host_library) {
  the_library = veo_load_library(the_proc, kernels);
  CHECK(the_library != 0);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)host_library, strlen(host_library) + 1);
  CHECK(sync_call(the_proc, the_library, "install", args) == 0);
  CHECK(sync_call(the_proc, the_library, "arguments", args) == 0);
  CHECK(sync_call(the_proc, the_library, "errors", args) == 0);
  CHECK(sync_call(the_proc, the_library, "uninstall", args) == 0);
  veo_args_set_i64(args, 0, 300000);
  CHECK(sync_call(the_proc, the_library, "buffers", args) == 0);
  veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)"use_veo", sizeof "use_veo");
  veo_args_set_i64(args, 1, 1), veo_args_set_i64(args, 2, 0);
  CHECK(sync_call(the_proc, the_library, "call_by_name", args) == 0);
  veo_args_free(args);
}

static void pass(const char* kernels, int other_machine) {
  struct veo_proc_handle* proc = the_proc = veo_proc_create(3);
  CHECK(proc != NULL && !(other_machine && veo_ham_is_near(proc)));
  const uint64_t lib = veo_load_library(proc, kernels);
  struct veo_thr_ctxt *ctx = veo_context_open(proc), *other = veo_context_open(proc);
  CHECK(lib != 0 && ctx != NULL && other != NULL);
  arguments(proc, lib);
  memory(proc, ctx, lib);
  the_context = ctx;
  if (getenv("HAM_TEST_VHCALL")) host_functions(getenv("HAM_TEST_VHCALL"), getenv("HAM_TEST_VHCALL_HOST"));
  uint64_t ids[500], result = 0;
  const uint64_t count = veo_get_sym(proc, lib, "count");
  for (int i = 0; i < 500; ++i) ids[i] = veo_call_async(i % 2 ? ctx : other, count, NULL);
  for (int i = 0; i < 500; ++i) CHECK(veo_call_wait_result(i % 2 ? ctx : other, ids[i], NULL) == VEO_COMMAND_OK);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_i32(args, 0, SIGSEGV);
  const uint64_t fatal = veo_call_async(other, veo_get_sym(proc, lib, "crash"), args);
  CHECK(veo_call_wait_result(other, fatal, &result) == VEO_COMMAND_EXCEPTION && result == SIGSEGV);
  CHECK(veo_call_sync(proc, count, NULL, NULL) == -1 && veo_get_context_state(ctx) == VEO_STATE_EXIT);
  veo_args_free(args);
  CHECK(veo_proc_destroy(proc) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc >= 5);
  char nodes[4096];
  pid_t server = 0;
  if (strcmp(argv[4], "tcp") == 0) {
    server = serve(argv[2], argv[1], nodes, sizeof nodes);
    setenv("HAM_KEY", argv[1], 1);
  } else {
    snprintf(nodes, sizeof nodes, "3=exec:");
    for (int i = 5; i < argc; ++i) {
      strcat(nodes, argv[i]);
      strcat(nodes, " ");
    }
    strcat(nodes, argv[2]);
  }
  setenv("HAM_VEO_NODES", nodes, 1);
  pass(argv[3], server != 0);
  pass(argv[3], server != 0); /* a server takes one host after the other, even when a kernel has crashed */
  if (server == 0) return 0;
  kill(server, SIGTERM);
  CHECK(waitpid(server, NULL, 0) == server && unlink(argv[1]) == 0);
  return 0;
}
