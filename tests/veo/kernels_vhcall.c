/* Kernels that call functions of the host: host_library.c. */
#include <errno.h>
#include <libvhcall.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static vhcall_handle library;
static volatile long progress;

/* 0, or the line that failed. */
#define EXPECT(condition)              \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

long install(const char* path) {
  library = vhcall_install(path);
  return library == VHCALL_HANDLE_INVALID ? -errno : 0;
}

/* A function with two long arguments. */
static long with_two(const char* name, long a, long b) {
  uint64_t result = 0;
  vhcall_args* args = vhcall_args_alloc();
  vhcall_args_set_i64(args, 0, a);
  vhcall_args_set_i64(args, 1, b);
  const int failed = vhcall_invoke_with_args(vhcall_find(library, name), args, &result);
  vhcall_args_free(args);
  return failed ? -errno : (long)result;
}

long call_by_name(const char* name, long a, long b) { return with_two(name, a, b); }

long buffers(long bytes) {
  const int64_t invert = vhcall_find(library, "invert");
  EXPECT(invert >= 0 && vhcall_find(library, "invert") == invert);
  char *in = malloc(bytes), *out = malloc(bytes + 8);
  memset(in, 0x0f, bytes);
  memset(out, 1, bytes + 8);
  EXPECT(vhcall_invoke(invert, in, bytes, out, bytes + 8) == bytes);
  for (long i = 0; i < bytes; ++i) EXPECT(out[i] == (char)0xf0 && in[i] == 0x0f);
  for (long i = bytes; i < bytes + 8; ++i) EXPECT(out[i] == 0); /* not written there */
  EXPECT(vhcall_invoke(vhcall_find(library, "sizes"), NULL, 0, NULL, 0) == 0);
  free(in);
  free(out);
  return 0;
}

long arguments(void) {
  vhcall_args* args = vhcall_args_alloc();
  uint64_t result = 0;
  const int64_t all_kinds = vhcall_find(library, "all_kinds");
  vhcall_args_set_i8(args, 0, -8), vhcall_args_set_u8(args, 1, 208);
  vhcall_args_set_i16(args, 2, -16), vhcall_args_set_u16(args, 3, 50000);
  vhcall_args_set_i32(args, 4, -32), vhcall_args_set_u32(args, 5, 4000000000U);
  vhcall_args_set_i64(args, 6, -64), vhcall_args_set_u64(args, 7, 10000000000000000000UL);
  vhcall_args_set_float(args, 8, 1.25F), vhcall_args_set_double(args, 9, -2.5);
  EXPECT(vhcall_invoke_with_args(all_kinds, args, &result) == 0 && result == 4711);
  EXPECT(vhcall_invoke_with_args(all_kinds, args, NULL) == 0); /* again, and the result is not wanted */
  vhcall_args_clear(args);
  long in[3] = {1, 2, 3}, inout[3] = {10, 20, 30}, out[3] = {7, 7, 7};
  vhcall_args_set_pointer(args, VHCALL_INTENT_IN, 0, in, sizeof in);
  vhcall_args_set_pointer(args, VHCALL_INTENT_INOUT, 1, inout, sizeof inout);
  vhcall_args_set_stack(args, VHCALL_INTENT_OUT, 2, out, sizeof out);
  vhcall_args_set_veoshandle(args, 3);
  vhcall_args_set_u64(args, 4, (uint64_t)(uintptr_t)&progress);
  progress = 5;
  EXPECT(vhcall_invoke_with_args(vhcall_find(library, "pointers"), args, &result) == 0 && result == 5);
  EXPECT(in[0] == 1 && inout[2] == 33 && out[0] == 1 && out[1] == 0 && progress == 6);
  vhcall_args_free(args);
  return 0;
}

long errors(void) {
  char byte = 0;
  EXPECT(vhcall_install("/no/such/library.so") == VHCALL_HANDLE_INVALID && errno == ENOENT);
  EXPECT(vhcall_install(NULL) == VHCALL_HANDLE_INVALID && errno == EINVAL);
  EXPECT(vhcall_find(library, "no_such_function") == -1 && errno == ENOENT);
  EXPECT(vhcall_find(library, NULL) == -1 && errno == EINVAL);
  EXPECT(vhcall_find(VHCALL_HANDLE_INVALID, "invert") == -1 && errno == EINVAL);
  EXPECT(vhcall_invoke(-1, NULL, 0, NULL, 0) == -1 && errno == EINVAL);
  EXPECT(vhcall_invoke(123456789, NULL, 0, NULL, 0) == -1 && errno == EINVAL);
  EXPECT(vhcall_invoke(vhcall_find(library, "sizes"), NULL, 1, NULL, 0) == -1 && errno == EINVAL);
  vhcall_args* args = vhcall_args_alloc();
  EXPECT(vhcall_args_set_i64(args, -1, 0) == -1 && vhcall_args_set_i64(NULL, 0, 0) == -1);
  EXPECT(vhcall_args_set_pointer(args, (enum vhcall_args_intent)3, 0, &byte, 1) == -1 && errno == EINVAL);
  EXPECT(vhcall_args_set_i64(args, 1, 0) == 0); /* a gap */
  EXPECT(vhcall_invoke_with_args(vhcall_find(library, "add"), args, NULL) == -1 && errno == EINVAL);
  vhcall_args_free(args);
  return 0;
}

long uninstall(const char* path) {
  const vhcall_handle second = vhcall_install(path);
  EXPECT(second != VHCALL_HANDLE_INVALID && second != library);
  const int64_t add = vhcall_find(second, "sizes");
  EXPECT(add >= 0 && vhcall_uninstall(second) == 0);
  EXPECT(vhcall_find(second, "sizes") == -1 && errno == EINVAL);
  EXPECT(vhcall_invoke(add, NULL, 0, NULL, 0) == -1 && errno == EINVAL);
  EXPECT(vhcall_uninstall(second) == -1 && errno == EINVAL);
  EXPECT(with_two("add", 1, 2) == 3); /* of the first one */
  return 0;
}

long many(long calls) {
  const int64_t count = vhcall_find(library, "count_one");
  for (long i = 0; i < calls; ++i) EXPECT(vhcall_invoke(count, NULL, 0, NULL, 0) >= 0);
  return 0;
}

/* Whether kernels begin while an earlier one of their context waits for the host. */
long waits_a_while(void) {
  progress = 1;
  with_two("nap", 50, 0);
  progress = 2;
  return 0;
}
long how_far(void) { return progress; }

static void* from_thread(void* result) {
  *(long*)result = with_two("add", 20, 22);
  return NULL;
}
long on_own_thread(void) {
  pthread_t thread;
  long result = 0;
  EXPECT(pthread_create(&thread, NULL, &from_thread, &result) == 0 && pthread_join(thread, NULL) == 0);
  return result;
}

/* The function calls a kernel in turn, so often. */
static void* nested_from_thread(void* depth) {
  *(long*)depth = with_two("use_veo", *(long*)depth, 0);
  return NULL;
}
long nested_on_own_thread(long depth, long unused) {
  (void)unused;
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, &nested_from_thread, &depth) == 0 && pthread_join(thread, NULL) == 0);
  return depth;
}
