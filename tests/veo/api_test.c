/* The VEO API as a client in strict C11 sees it: argv[1] is the library of kernels. */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <ve_offload.h>
#include <veo_ham.h>
#include <veo_time.h>
#include <veo_vedma.h>
#include <veo_veshm.h>
#include <veo_vhveshm.h>

#include "check.h"

static const char* kernels;

static uint64_t call(struct veo_thr_ctxt* ctx, uint64_t kernel, struct veo_args* args) {
  uint64_t result = 0;
  const uint64_t req = veo_call_async(ctx, kernel, args);
  CHECK(req != VEO_REQUEST_ID_INVALID);
  CHECK(veo_call_wait_result(ctx, req, &result) == VEO_COMMAND_OK);
  return result;
}

static void procs_and_symbols(void) {
  CHECK(veo_api_version() == VEO_API_VERSION && strcmp(veo_version_string(), "3.0.2") == 0);
  CHECK(veo_proc_create(-2) == NULL);
  CHECK(veo_proc_create_static(0, "./no-such-helper") == NULL);
  CHECK(veo_proc_create_static(0, "/bin/true") == NULL);
  CHECK(veo_proc_create_static(0, NULL) == NULL && errno == EINVAL);
  struct veo_proc_handle* proc[4];
  for (int i = 0; i < 4; ++i) {
    proc[i] = veo_proc_create(i % 2);
    CHECK(proc[i] != NULL && veo_proc_identifier(proc[i]) == i && veo_num_contexts(proc[i]) == 0);
    CHECK(veo_get_context(proc[i], 0) == NULL);
  }
  CHECK(veo_proc_destroy(proc[1]) == 0 && veo_proc_destroy(proc[1]) == 0 && veo_proc_identifier(proc[1]) == -1);
  CHECK(veo_get_sym(proc[1], 0, "x") == 0 && veo_context_open(proc[1]) == NULL && veo_num_contexts(proc[1]) == -1);
  proc[1] = veo_proc_create(7);
  CHECK(veo_proc_identifier(proc[1]) == 1 && veo_proc_destroy(proc[1]) == 0);
  CHECK(veo_proc_destroy(NULL) == -1 && errno == EINVAL && veo_proc_identifier(NULL) == -1);
  CHECK(veo_proc_destroy((struct veo_proc_handle*)&proc) == -1);

  char long_name[300];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[299] = 0;
  CHECK(veo_load_library(proc[0], "./absent.so") == 0 && veo_load_library(proc[0], NULL) == 0);
  CHECK(veo_load_library(proc[0], long_name) == 0 && errno == ENAMETOOLONG);
  const uint64_t lib = veo_load_library(proc[0], kernels);
  CHECK(lib != 0 && veo_load_library(proc[0], kernels) == lib);
  const uint64_t count = veo_get_sym(proc[0], lib, "count");
  CHECK(count != 0 && veo_get_sym(proc[0], lib, "count") == count);
  CHECK(veo_get_sym(proc[0], lib, "absent") == 0 && veo_get_sym(proc[0], 0, "count") == 0);
  CHECK(veo_get_sym(proc[0], lib, long_name) == 0 && errno == ENAMETOOLONG && veo_get_sym(proc[0], 12345, "x") == 0);
  uint64_t result = 0;
  for (uint64_t i = 1; i < 200; ++i) CHECK(veo_call_sync(proc[0], count, NULL, &result) == 0 && result == i);
  CHECK(veo_call_sync(proc[0], 0, NULL, &result) == -1);
  CHECK(veo_unload_library(proc[0], 12345) != 0);
  CHECK(veo_unload_library(proc[0], lib) == 0 && veo_unload_library(proc[0], lib) == 0);
  CHECK(veo_get_sym(proc[0], lib, "count") == 0 && veo_unload_library(proc[0], lib) != 0);
  const uint64_t again = veo_load_library(proc[0], kernels);
  CHECK(again != 0 && veo_get_sym(proc[0], again, "count") != count);
  CHECK(veo_call_sync(proc[0], veo_get_sym(proc[0], again, "count"), NULL, &result) == 0 && result == 1);
  for (int i = 0; i < 4; ++i) CHECK(i == 1 || veo_proc_destroy(proc[i]) == 0);
}

static void arguments(struct veo_proc_handle* proc, struct veo_thr_ctxt* ctx, uint64_t lib) {
  struct veo_args* args = veo_args_alloc();
  const uint64_t kinds = veo_get_sym(proc, lib, "all_kinds");
  veo_args_set_i8(args, 0, -8), veo_args_set_i16(args, 1, -16), veo_args_set_i32(args, 2, -32);
  veo_args_set_i64(args, 3, -64), veo_args_set_u8(args, 4, 208), veo_args_set_u16(args, 5, 50000);
  veo_args_set_u32(args, 6, 4000000000U), veo_args_set_u64(args, 7, 10000000000000000000UL);
  veo_args_set_i8(args, 8, -1);
  for (int i = 0; i < 10; ++i) veo_args_set_double(args, 9 + i, i + 0.5);
  CHECK(veo_call_async(ctx, kinds, args) != VEO_REQUEST_ID_INVALID);
  CHECK(veo_args_set_float(args, 19, 1.25F) == 0 && call(ctx, kinds, args) == 1);
  CHECK(veo_args_set_i32(args, 0, -9) == 0 && call(ctx, kinds, args) == 0);
  veo_args_clear(args);
  CHECK(veo_args_set_i64(args, -1, 1) == -1 && veo_args_set_i64(args, 3, 1) == 0);
  CHECK(veo_call_async(ctx, kinds, args) == VEO_REQUEST_ID_INVALID && veo_call_sync(proc, kinds, args, NULL) == -1);

  veo_args_clear(args);
  int32_t in[100], inout[100];
  int64_t out = 1;
  for (int i = 0; i < 100; ++i) in[i] = inout[i] = i;
  CHECK(veo_args_set_stack(args, (enum veo_args_intent)9, 0, (char*)in, 8) == -1);
  veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)in, sizeof in);
  veo_args_set_u64(args, 1, 100);
  veo_args_set_stack(args, VEO_INTENT_INOUT, 2, (char*)inout, sizeof inout);
  veo_args_set_stack(args, VEO_INTENT_OUT, 3, (char*)&out, sizeof out);
  const uint64_t stacks = veo_get_sym(proc, lib, "stacks");
  const uint64_t req = veo_call_async(ctx, stacks, args);
  memset(in, 0, sizeof in);
  uint64_t result = 1;
  CHECK(veo_call_wait_result(ctx, req, &result) == VEO_COMMAND_OK && result == 0 && out == 4950);
  for (int i = 0; i < 100; ++i) CHECK(in[i] == 0 && inout[i] == 2 * i);

  const size_t large = (size_t)70 << 20;
  char* block = malloc(large);
  memset(block, 3, large);
  veo_args_clear(args);
  veo_args_set_stack(args, VEO_INTENT_IN, 0, block, large);
  veo_args_set_u64(args, 1, large);
  CHECK(call(ctx, veo_get_sym(proc, lib, "sum_bytes"), args) == 3 * large);
  veo_args_set_stack(args, VEO_INTENT_OUT, 0, block, large);
  CHECK(call(ctx, veo_get_sym(proc, lib, "leave_alone"), args) == 0);
  for (size_t i = 0; i < large; ++i) CHECK(block[i] == 0);
  veo_args_set_i32(args, 2, 5);
  CHECK(call(ctx, veo_get_sym(proc, lib, "fill"), args) == large && block[0] == 5 && block[large - 1] == 5);
  free(block);
  veo_args_clear(args);
  veo_args_set_stack(args, VEO_INTENT_INOUT, 0, NULL, 0);
  CHECK(call(ctx, veo_get_sym(proc, lib, "leave_alone"), args) == 0);

  veo_args_clear(args);
  for (int i = 0; i < VEO_MAX_NUM_ARGS; ++i) veo_args_set_i64(args, i, i % 8 == i ? i : 9);
  CHECK(call(ctx, veo_get_sym(proc, lib, "sum8"), args) == 76543210);

  veo_args_clear(args);
  union {
    uint64_t bits;
    double real;
    float single[2];
  } word;
  veo_args_set_double(args, 0, 5.0);
  veo_ham_args_set_result(args, VEO_HAM_RESULT_DOUBLE);
  word.bits = call(ctx, veo_get_sym(proc, lib, "half"), args);
  CHECK(word.real == 2.5);
  veo_args_set_float(args, 0, 6.0F);
  veo_ham_args_set_result(args, VEO_HAM_RESULT_FLOAT);
  word.bits = call(ctx, veo_get_sym(proc, lib, "third"), args);
  CHECK(word.single[0] == 2.0F && word.single[1] == 2.0F);
  veo_args_clear(args);
  veo_ham_args_set_result(args, VEO_HAM_RESULT_I32);
  CHECK((int64_t)call(ctx, veo_get_sym(proc, lib, "negative"), args) == -5);
  veo_args_free(args);
  veo_args_free(NULL);
}

static uint64_t fill_slowly(void* to) {
  busy_sleep_us(1000);
  memset(to, 'v', 32);
  return 0;
}

static void memory(struct veo_proc_handle* proc, struct veo_thr_ctxt* ctx, uint64_t lib) {
  uint64_t addr = 0, result = 0;
  char back[64] = "";
  CHECK(veo_alloc_mem(proc, &addr, 1000) == 0 && addr != 0);
  for (size_t n = 0; n < 24; ++n) {
    memset(back, 0, sizeof back);
    CHECK(veo_write_mem(proc, addr + 1, "abcdefghijklmnopqrstuvw", n) == 0);
    CHECK(veo_read_mem(proc, back, addr + 1, n) == 0 && memcmp(back, "abcdefghijklmnopqrstuvw", n) == 0);
  }
  CHECK(veo_free_mem(proc, addr) == 0 && veo_free_mem(proc, 0) == 0);
  CHECK(veo_read_mem(proc, back, 8, 8) == -1 && veo_write_mem(proc, 8, back, 8) == -1);
  CHECK(veo_call_wait_result(ctx, veo_async_read_mem(ctx, back, 8, 8), &result) == VEO_COMMAND_ERROR);
  CHECK(veo_get_context_state(ctx) == VEO_STATE_RUNNING);
  CHECK(veo_alloc_mem(proc, &addr, (size_t)1 << 60) == -1 && addr == 0);
  int64_t value = 0;
  CHECK(veo_read_mem(proc, &value, veo_get_sym(proc, lib, "variable"), 8) == 0 && value == 4711);

  /* A chain without a wait in between; small and large. */
  for (size_t size = 1000; size <= 4000000; size *= 4000) {
    char *from = malloc(size), *to = calloc(1, size);
    memset(from, 7, size);
    const uint64_t alloc = veo_alloc_mem_async(ctx, size);
    CHECK(veo_call_wait_result(ctx, alloc, &addr) == VEO_COMMAND_OK && addr != 0);
    struct veo_args* args = veo_args_alloc();
    veo_args_set_u64(args, 0, addr), veo_args_set_u64(args, 1, size);
    const uint64_t written = veo_async_write_mem(ctx, addr, from, size);
    const uint64_t summed = veo_call_async(ctx, veo_get_sym(proc, lib, "sum_bytes"), args);
    const uint64_t read = veo_async_read_mem(ctx, to, addr, size);
    veo_args_free(args);
    CHECK(veo_call_wait_result(ctx, read, NULL) == VEO_COMMAND_OK && memcmp(from, to, size) == 0);
    CHECK(veo_call_wait_result(ctx, summed, &result) == VEO_COMMAND_OK && result == 7 * size);
    CHECK(veo_call_peek_result(ctx, written, &result) == VEO_COMMAND_OK && result == 0);
    CHECK(veo_call_wait_result(ctx, veo_free_mem_async(ctx, addr), &result) == VEO_COMMAND_OK);
    free(from);
    free(to);
  }
  /* Each request sees what those before it have left in the client's buffers, too. */
  char one[32] = "", two[32] = "", three[32] = "";
  CHECK(veo_alloc_mem(proc, &addr, 64) == 0);
  CHECK(veo_call_async_vh(ctx, &fill_slowly, one) != VEO_REQUEST_ID_INVALID);
  veo_async_write_mem(ctx, addr, one, sizeof one);
  veo_async_read_mem(ctx, two, addr, sizeof two);
  veo_context_sync(ctx);
  for (int i = 0; i < 100; ++i) {
    memset(three, 0, sizeof three);
    veo_async_read_mem(ctx, three, addr, sizeof three);
    veo_async_write_mem(ctx, addr + 32, three, sizeof three);
    CHECK(veo_read_mem(proc, back, addr + 32, 32) == 0 && back[31] == 'v' && two[31] == 'v');
  }
  CHECK(veo_free_mem(proc, addr) == 0);

  struct veo_args* args = veo_args_alloc();
  veo_args_set_u64(args, 0, 50);
  addr = call(ctx, veo_get_sym(proc, lib, "make_block"), args);
  CHECK(veo_read_mem(proc, back, addr, 50) == 0 && back[49] == 'k' && veo_free_mem(proc, addr) == 0);

  void *tagged = NULL, *host = NULL;
  uint64_t number = 40;
  CHECK(veo_alloc_hmem(proc, &tagged, 64) == 0 && veo_is_ve_addr(tagged) && !veo_is_ve_addr(&number));
  CHECK(veo_get_proc_identifier_from_hmem(tagged) == veo_proc_identifier(proc));
  CHECK(veo_get_proc_handle_from_hmem(tagged) == proc && veo_get_venum_from_hmem(tagged) == 0);
  CHECK(veo_hmemcpy(tagged, &number, 8) == 0 && veo_hmemcpy((char*)tagged + 8, tagged, 8) == 0);
  veo_args_set_hmem(args, 0, tagged);
  CHECK(call(ctx, veo_get_sym(proc, lib, "hmem_first"), args) == 40 + (uint64_t)veo_proc_identifier(proc));
  number = 0;
  CHECK(veo_hmemcpy(&number, (char*)tagged + 8, 8) == 0 && number == 40 && veo_free_hmem(tagged) == 0);
  CHECK(veo_alloc_hmem(NULL, &host, 64) == 0 && !veo_is_ve_addr(host) && veo_free_hmem(host) == 0);
  void* nobodys = veo_set_proc_identifier((void*)4096, 9);
  CHECK(veo_get_proc_handle_from_hmem(nobodys) == NULL && veo_free_hmem(nobodys) == -1);
  CHECK(veo_hmemcpy(&number, nobodys, 8) < 0 && veo_set_proc_identifier(NULL, 16) == NULL);
  CHECK(veo_get_hmem_addr(nobodys) == (void*)4096 && veo_get_max_proc_identifier() == 16);
  CHECK((uint64_t)veo_get_pid_from_hmem(veo_set_proc_identifier(NULL, veo_proc_identifier(proc))) ==
        call(ctx, veo_get_sym(proc, lib, "process_number"), NULL));
  veo_args_free(args);
}

struct host_work {
  struct veo_proc_handle* proc;
  struct veo_thr_ctxt* ctx;
  uint64_t kernel, earlier, seen;
  pthread_t caller;
};

static uint64_t on_host(void* data) {
  struct host_work* work = data;
  uint64_t addr = 0;
  CHECK(!pthread_equal(pthread_self(), work->caller));
  CHECK(veo_call_wait_result(work->ctx, work->earlier, &work->seen) == VEO_COMMAND_OK);
  CHECK(veo_alloc_mem(work->proc, &addr, 8) == 0 && veo_write_mem(work->proc, addr, &addr, 8) == 0);
  CHECK(veo_free_mem(work->proc, addr) == 0 && veo_call_sync(work->proc, work->kernel, NULL, &addr) == 0);
  return addr;
}

static void requests(struct veo_proc_handle* proc, struct veo_thr_ctxt* ctx, uint64_t lib) {
  enum { many = 100000 };
  static uint64_t ids[many];
  const uint64_t count = veo_get_sym(proc, lib, "count");
  const uint64_t first = call(ctx, count, NULL);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_u64(args, 0, 50);
  uint64_t result = 77;
  const uint64_t slow = veo_call_async(ctx, veo_get_sym(proc, lib, "sleep_ms"), args);
  CHECK(veo_call_peek_result(ctx, slow, &result) == VEO_COMMAND_UNFINISHED && result == 77);
  const long begin = get_time_us();
  for (int i = 0; i < many; ++i) ids[i] = veo_call_async(ctx, count, args);
  CHECK(timediff_us(begin) < 20000000);
  CHECK(veo_call_wait_result(ctx, ids[many - 1], &result) == VEO_COMMAND_OK && result == first + many);
  for (int i = 0; i + 1 < many; ++i) {
    CHECK(veo_call_peek_result(ctx, ids[i], &result) == VEO_COMMAND_OK && result == first + 1 + (uint64_t)i);
  }
  CHECK(veo_call_wait_result(ctx, ids[5], &result) == VEO_COMMAND_ERROR);
  CHECK(veo_call_peek_result(ctx, ids[5], NULL) == VEO_COMMAND_ERROR);
  CHECK(veo_call_wait_result(ctx, VEO_REQUEST_ID_INVALID, NULL) == VEO_COMMAND_ERROR);
  CHECK(veo_call_wait_result(ctx, ids[many - 1] + 1000, NULL) == VEO_COMMAND_ERROR);
  CHECK(veo_call_wait_result(ctx, slow, &result) == VEO_COMMAND_OK && result == 50);
  CHECK(veo_call_async(ctx, 0, args) == VEO_REQUEST_ID_INVALID);
  CHECK(veo_call_async_by_name(ctx, lib, "absent", args) == VEO_REQUEST_ID_INVALID);
  CHECK(veo_call_wait_result(ctx, veo_call_async_by_name(ctx, lib, "count", args), &result) == VEO_COMMAND_OK);

  struct host_work work = {proc, ctx, count, veo_call_async(ctx, count, args), 0, pthread_self()};
  const uint64_t expected = result + 1;
  const uint64_t host = veo_call_async_vh(ctx, &on_host, &work);
  const uint64_t later = veo_call_async(ctx, count, args);
  CHECK(veo_call_async_vh(ctx, NULL, NULL) == VEO_REQUEST_ID_INVALID);
  CHECK(veo_call_wait_result(ctx, later, &result) == VEO_COMMAND_OK && result == expected + 2);
  CHECK(veo_call_wait_result(ctx, host, &result) == VEO_COMMAND_OK && result == expected + 1 && work.seen == expected);

  const uint64_t last = veo_call_async(ctx, count, args);
  veo_context_sync(ctx);
  CHECK(veo_call_peek_result(ctx, last, &result) == VEO_COMMAND_OK && result == expected + 3);

  /* Results of earlier requests, seen by kernels. */
  veo_req_block_begin(ctx);
  veo_req_block_begin(ctx);
  const uint64_t alloc = veo_alloc_mem_async(ctx, 100);
  veo_args_set_i32(args, 0, 1);
  const uint64_t found = veo_call_async_by_name(ctx, lib, "write_to_previous", args);
  veo_req_block_end(ctx);
  veo_req_block_end(ctx);
  uint64_t addr = 0, same = 0;
  char text[8] = "";
  CHECK(veo_call_wait_result(ctx, alloc, &addr) == VEO_COMMAND_OK);
  CHECK(veo_call_wait_result(ctx, found, &same) == VEO_COMMAND_OK && same == addr && addr != 0);
  CHECK(veo_read_mem(proc, text, addr, 6) == 0 && strcmp(text, "found") == 0);
  veo_args_set_i32(args, 0, 0);
  CHECK(veo_write_mem(proc, addr, text, 6) == 0);
  CHECK(call(ctx, veo_get_sym(proc, lib, "previous"), args) == veo_get_sym(proc, lib, "previous"));
  CHECK(veo_write_mem(proc, addr, text, 6) == 0 && call(ctx, veo_get_sym(proc, lib, "previous"), args) == ~0UL);
  veo_args_free(args);
}

/* What earlier requests bring is there when a later one, or a synchronous function, has finished. */
static void results_of_earlier_requests(struct veo_proc_handle* proc, struct veo_thr_ctxt* ctx, uint64_t lib) {
  enum { wait_for_last, peek_last, call_function, allocate, read_memory, ways };
  const uint64_t fill = veo_get_sym(proc, lib, "fill"), count = veo_get_sym(proc, lib, "count");
  const uint64_t variable = veo_get_sym(proc, lib, "variable");
  struct veo_args* args = veo_args_alloc();
  int64_t expected = 0;
  CHECK(veo_read_mem(proc, &expected, variable, sizeof expected) == 0 && expected != 0);
  for (int i = 0; i < 20 * ways; ++i) {
    int64_t read = 0;
    uint64_t result = 0, id = 0;
    char out[8] = {0};
    veo_args_clear(args);
    CHECK(veo_args_set_stack(args, VEO_INTENT_OUT, 0, out, sizeof out) == 0);
    CHECK(veo_args_set_u64(args, 1, sizeof out) == 0 && veo_args_set_i32(args, 2, 7) == 0);
    CHECK(veo_async_read_mem(ctx, &read, variable, sizeof read) != VEO_REQUEST_ID_INVALID);
    CHECK(veo_call_async(ctx, fill, args) != VEO_REQUEST_ID_INVALID);
    switch (i % ways) {
      case wait_for_last:
        CHECK(veo_call_wait_result(ctx, veo_call_async(ctx, count, NULL), &result) == VEO_COMMAND_OK);
        break;
      case peek_last:
        id = veo_call_async(ctx, count, NULL);
        while (veo_call_peek_result(ctx, id, &result) == VEO_COMMAND_UNFINISHED) continue;
        break;
      case call_function: CHECK(veo_call_sync(proc, count, NULL, &result) == 0); break;
      case allocate: CHECK(veo_alloc_mem(proc, &result, 8) == 0 && veo_free_mem(proc, result) == 0); break;
      default: CHECK(veo_read_mem(proc, &result, variable, sizeof result) == 0); break;
    }
    CHECK(read == expected && out[0] == 7 && out[7] == 7);
  }
  veo_args_free(args);
}

static void contexts(struct veo_proc_handle* proc, struct veo_thr_ctxt* main_ctx, uint64_t lib) {
  struct veo_thr_ctxt* second = veo_context_open(proc);
  struct veo_thr_ctxt_attr* attr = veo_alloc_thr_ctxt_attr();
  size_t bytes = 0;
  CHECK(veo_get_thr_ctxt_stacksize(attr, &bytes) == 0 && bytes == 0x8000000);
  CHECK(veo_set_thr_ctxt_stacksize(attr, 1000) == -1 && errno == EINVAL);
  CHECK(veo_set_thr_ctxt_stacksize(attr, (size_t)512 << 20) == 0 && veo_free_thr_ctxt_attr(NULL) == -1);
  struct veo_thr_ctxt* third = veo_context_open_with_attr(proc, attr);
  CHECK(veo_free_thr_ctxt_attr(attr) == 0 && veo_context_open_with_attr(proc, NULL) == NULL);
  CHECK(second != NULL && third != NULL && veo_num_contexts(proc) == 3);
  CHECK(veo_get_context(proc, 0) == main_ctx && veo_get_context(proc, 2) == third && veo_get_context(proc, 3) == NULL);

  struct veo_args* args = veo_args_alloc();
  const uint64_t thread = veo_get_sym(proc, lib, "thread_number");
  const uint64_t of_second = call(second, thread, args);
  CHECK(call(main_ctx, thread, args) == call(main_ctx, veo_get_sym(proc, lib, "process_number"), args));
  CHECK(of_second != call(main_ctx, thread, args) && of_second == call(second, thread, args));
  CHECK(of_second != call(third, thread, args));

  veo_args_set_u64(args, 0, 3);
  const uint64_t rendezvous = veo_get_sym(proc, lib, "rendezvous");
  struct veo_thr_ctxt* all[3] = {main_ctx, second, third};
  uint64_t ids[3], result = 0;
  for (int i = 0; i < 3; ++i) ids[i] = veo_call_async(all[i], rendezvous, args);
  for (int i = 0; i < 3; ++i) CHECK(veo_call_wait_result(all[i], ids[i], &result) == VEO_COMMAND_OK && result == 1);

  /* A call for another context gets through while the main one computes, and a backlog does not hold others up. */
  const uint64_t open_gate = veo_get_sym(proc, lib, "open_gate");
  const uint64_t held = veo_call_async(main_ctx, veo_get_sym(proc, lib, "wait_at_gate"), args);
  const uint64_t count = veo_get_sym(proc, lib, "count");
  for (int i = 0; i < 20000; ++i) veo_call_async(main_ctx, count, args);
  CHECK(veo_call_peek_result(main_ctx, held, &result) == VEO_COMMAND_UNFINISHED);
  CHECK(call(second, open_gate, args) == 1);
  CHECK(veo_call_wait_result(main_ctx, held, &result) == VEO_COMMAND_OK && result == 1);

  veo_args_set_u64(args, 0, 400);
  CHECK(call(third, veo_get_sym(proc, lib, "use_stack"), args) == 1);
  veo_args_set_u64(args, 0, 50);
  CHECK(call(main_ctx, veo_get_sym(proc, lib, "use_stack"), args) == 1);
  CHECK(call(second, veo_get_sym(proc, lib, "use_stack"), args) == 1);

  CHECK(veo_context_close(second) == 0 && veo_context_close(second) == 0 && veo_context_close(NULL) == -1);
  CHECK(veo_num_contexts(proc) == 2 && veo_get_context(proc, 1) == third);
  CHECK(veo_call_async(second, count, args) == VEO_REQUEST_ID_INVALID);
  CHECK(veo_context_close(main_ctx) == 0 && veo_num_contexts(proc) == 2 && call(main_ctx, thread, args) != 0);
  CHECK(veo_context_close(third) == 0);
  veo_args_free(args);
}

static int hook_calls;
static uint64_t hooked_address;
static void on_alloc(void* payload, ...) {
  va_list rest;
  va_start(rest, payload);
  CHECK(veo_proc_identifier(va_arg(rest, struct veo_proc_handle*)) >= 0);
  hooked_address = *va_arg(rest, uint64_t*);
  hook_calls += *(int*)payload + (int)(va_arg(rest, size_t) == 128);
  va_end(rest);
}
static void on_async(void* payload, ...) {
  va_list rest;
  va_start(rest, payload);
  CHECK(veo_get_context_state(va_arg(rest, struct veo_thr_ctxt*)) == VEO_STATE_RUNNING);
  hooked_address = va_arg(rest, uint64_t);
  hook_calls += *(int*)payload;
  va_end(rest);
}
static void* hmem_told;
static uint64_t hmem_freed;
static void on_hmem(void* p, size_t n) { hmem_told = n == 64 ? p : NULL; }
static void on_hmem_free(uint64_t p) { hmem_freed = p; }

static void hooks(struct veo_proc_handle* proc, struct veo_thr_ctxt* ctx) {
  int step = 10;
  uint64_t addr = 0;
  CHECK(veo_get_hook((void*)&veo_alloc_mem) == NULL);
  veo_register_hook((void*)&veo_alloc_mem, &on_alloc, &step);
  CHECK(veo_get_hook((void*)&veo_alloc_mem) == (void*)&on_alloc);
  CHECK(veo_alloc_mem(proc, &addr, 128) == 0 && hook_calls == 11 && hooked_address == addr);
  CHECK(veo_free_mem(proc, addr) == 0 && veo_alloc_mem(proc, &addr, (size_t)1 << 60) == -1 && hook_calls == 11);
  veo_unregister_hook((void*)&veo_alloc_mem);
  CHECK(veo_get_hook((void*)&veo_alloc_mem) == NULL);
  veo_register_hook((void*)&veo_alloc_mem_async, &on_async, &step);
  CHECK(veo_call_wait_result(ctx, veo_alloc_mem_async(ctx, 64), &addr) == VEO_COMMAND_OK);
  CHECK(addr != 0 && hooked_address == addr && hook_calls == 21);
  veo_unregister_hook((void*)&veo_alloc_mem_async);

  void* tagged = NULL;
  veo_register_hmem_hook_functions(&on_hmem, &on_hmem_free);
  CHECK(veo_get_hook((void*)&veo_free_mem_async) != NULL && veo_alloc_hmem(proc, &tagged, 64) == 0);
  CHECK(hmem_told == tagged && veo_free_hmem(tagged) == 0 && hmem_freed == (uint64_t)tagged);
  CHECK(veo_call_wait_result(ctx, veo_free_mem_async(ctx, addr), NULL) == VEO_COMMAND_OK);
  CHECK(hmem_freed == (uint64_t)veo_set_proc_identifier((void*)addr, veo_proc_identifier(proc)));
  veo_unregister_hmem_hook_functions();
  CHECK(veo_get_hook((void*)&veo_alloc_mem) == NULL && veo_get_hook((void*)&veo_free_mem) == NULL);
}

struct crew {
  struct veo_proc_handle* proc;
  struct veo_thr_ctxt* ctx;
  uint64_t lib;
};

static void* worker(void* data) {
  const struct crew* crew = data;
  const uint64_t count = veo_get_sym(crew->proc, crew->lib, "count");
  const size_t size = (size_t)3 << 20;
  char *from = malloc(size), *to = malloc(size);
  for (int round = 0; round < 10; ++round) {
    uint64_t addr = 0, result = 0, ids[200];
    memset(from, round + 1, size);
    CHECK(veo_alloc_mem(crew->proc, &addr, size) == 0 && veo_write_mem(crew->proc, addr, from, size) == 0);
    for (int i = 0; i < 200; ++i) ids[i] = veo_call_async(crew->ctx, count, NULL);
    CHECK(veo_read_mem(crew->proc, to, addr, size) == 0 && memcmp(from, to, size) == 0);
    for (int i = 0; i < 200; ++i) {
      const uint64_t before = result;
      CHECK(veo_call_wait_result(crew->ctx, ids[i], &result) == VEO_COMMAND_OK && result > before);
      CHECK(veo_call_wait_result(crew->ctx, veo_call_async(crew->ctx, count, NULL), NULL) == VEO_COMMAND_OK);
    }
    CHECK(veo_free_mem(crew->proc, addr) == 0);
  }
  free(from);
  free(to);
  return NULL;
}

struct pending {
  struct veo_thr_ctxt* ctx;
  uint64_t id;
};

static void* await(void* data) {
  const struct pending* what = data;
  return (void*)(intptr_t)veo_call_wait_result(what->ctx, what->id, NULL);
}

/* Two wait for one result: one gets it. Who waits in a context that is closed is told. */
static void waiters(struct veo_proc_handle* proc, uint64_t lib) {
  struct veo_thr_ctxt* ctx = veo_context_open(proc);
  struct veo_args* args = veo_args_alloc();
  veo_args_set_u64(args, 0, 30);
  struct pending what = {ctx, veo_call_async(ctx, veo_get_sym(proc, lib, "sleep_ms"), args)};
  pthread_t all[2];
  void* states[2];
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&all[i], NULL, &await, &what) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(all[i], &states[i]) == 0);
  CHECK((intptr_t)states[0] + (intptr_t)states[1] == VEO_COMMAND_OK + VEO_COMMAND_ERROR);
  what.id = veo_call_async(ctx, veo_get_sym(proc, lib, "sleep_ms"), args);
  for (int i = 0; i < 1000; ++i) veo_call_async(ctx, veo_get_sym(proc, lib, "count"), args);
  CHECK(pthread_create(&all[0], NULL, &await, &what) == 0 && veo_context_close(ctx) == 0);
  CHECK(pthread_join(all[0], &states[0]) == 0 && states[0] != (void*)VEO_COMMAND_UNFINISHED);
  veo_args_free(args);
}

static void threads(struct veo_proc_handle* proc, struct veo_thr_ctxt* ctx, uint64_t lib) {
  pthread_t all[3];
  struct crew crew[3] = {{proc, ctx, lib}, {proc, ctx, lib}, {proc, veo_context_open(proc), lib}};
  CHECK(crew[2].ctx != NULL);
  for (int i = 0; i < 3; ++i) CHECK(pthread_create(&all[i], NULL, &worker, &crew[i]) == 0);
  for (int i = 0; i < 3; ++i) CHECK(pthread_join(all[i], NULL) == 0);
}

static void hardware(struct veo_proc_handle* proc) {
  void* vehva = NULL;
  CHECK(veo_shared_mem_open(veo_set_proc_identifier((void*)64, 0), 1, 1, 1) == -1 && errno == ENOTSUP);
  CHECK(veo_shared_mem_open(&vehva, 1, 1, 1) == -1 && errno == EINVAL);
  CHECK(veo_shmat(proc, 1, NULL, 0, &vehva) == (void*)-1 && errno == ENOTSUP);
  CHECK(veo_dma_post(proc, 1, 1, 4, NULL) == -EFAULT && veo_dma_post_wait(proc, 1, 1, 4) == -ENOTSUP);
  CHECK(veo_register_mem_to_dmaatb(NULL, 1) == (uint64_t)-1 && veo_get_ve_arch(0) == 1 && veo_get_ve_arch(-2) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  kernels = argv[1];
  procs_and_symbols();
  struct veo_proc_handle* proc = veo_proc_create(-1);
  CHECK(proc != NULL);
  const uint64_t lib = veo_load_library(proc, kernels);
  struct veo_thr_ctxt* ctx = veo_context_open(proc);
  CHECK(lib != 0 && ctx != NULL && veo_num_contexts(proc) == 1 && veo_get_context(proc, 0) == ctx);
  CHECK(veo_get_context_state(ctx) == VEO_STATE_RUNNING);
  arguments(proc, ctx, lib);
  memory(proc, ctx, lib);
  requests(proc, ctx, lib);
  results_of_earlier_requests(proc, ctx, lib);
  contexts(proc, ctx, lib);
  hooks(proc, ctx);
  threads(proc, ctx, lib);
  waiters(proc, lib);
  hardware(proc);
  CHECK(call(ctx, veo_get_sym(proc, lib, "hello"), NULL) == 12 &&
        call(ctx, veo_get_sym(proc, lib, "at_exit"), NULL) == 0);
  /* The end of the process destroys the proc; what the kernel printed appears. */
  return 0;
}
