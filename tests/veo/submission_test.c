/* Submission beside that of other threads. argv: the library of kernels. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <ve_offload.h>

#include "check.h"

enum { rounds = 300, large = 200 << 10 };

static struct veo_thr_ctxt* ctx;
static pthread_barrier_t meeting;
static uint64_t wait_at_gate, gates[rounds];

static void* submit_gates(void* unused) {
  for (int i = 0; i < rounds; ++i) {
    pthread_barrier_wait(&meeting);
    for (volatile int pause = 0; pause < i * 7 % 300;) ++pause; /* at ever another moment of the other submission */
    gates[i] = veo_call_async(ctx, wait_at_gate, NULL);
    pthread_barrier_wait(&meeting);
  }
  return unused;
}

/* A call with large stack arguments. Another thread submits a kernel at the same moment, which only ends after both
 * submissions. */
static void large_calls_wait_for_no_kernel(struct veo_proc_handle* proc, uint64_t lib) {
  const uint64_t sum_bytes = veo_get_sym(proc, lib, "sum_bytes"), open_gate = veo_get_sym(proc, lib, "open_gate");
  static unsigned char buffer[large];
  struct veo_args* args = veo_args_alloc();
  pthread_t other;
  wait_at_gate = veo_get_sym(proc, lib, "wait_at_gate");
  CHECK(pthread_barrier_init(&meeting, NULL, 2) == 0 && pthread_create(&other, NULL, &submit_gates, NULL) == 0);
  veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)buffer, large);
  veo_args_set_u64(args, 1, large);
  for (int i = 0; i < rounds; ++i) {
    uint64_t result = 0;
    memset(buffer, i % 256, large);
    pthread_barrier_wait(&meeting);
    const uint64_t req = veo_call_async(ctx, sum_bytes, args);
    memset(buffer, 255, large);
    pthread_barrier_wait(&meeting);
    CHECK(veo_call_sync(proc, open_gate, NULL, &result) == 0);
    CHECK(veo_call_wait_result(ctx, gates[i], &result) == VEO_COMMAND_OK && result == 1);
    CHECK(veo_call_wait_result(ctx, req, &result) == VEO_COMMAND_OK && result == (uint64_t)(i % 256) * large);
  }
  pthread_join(other, NULL);
  veo_args_free(args);
}

static void* begin_block(void* of) {
  veo_req_block_begin(of);
  return NULL;
}

/* Nobody is left to end it. */
static void a_block_ends_with_its_proc(void) {
  struct veo_proc_handle* proc = veo_proc_create(0);
  pthread_t owner;
  CHECK(proc != NULL && pthread_create(&owner, NULL, &begin_block, veo_context_open(proc)) == 0);
  pthread_join(owner, NULL);
  CHECK(veo_proc_destroy(proc) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  struct veo_proc_handle* proc = veo_proc_create(0);
  CHECK(proc != NULL);
  const uint64_t lib = veo_load_library(proc, argv[1]);
  CHECK(lib != 0 && veo_context_open(proc) != NULL);
  ctx = veo_context_open(proc);
  CHECK(ctx != NULL);
  large_calls_wait_for_no_kernel(proc, lib);
  a_block_ends_with_its_proc();
  return veo_proc_destroy(proc);
}
