/* Functions of the host, called by kernels_vhcall.c. What they share with the program they find by its own symbols. */
#define _GNU_SOURCE
#include <errno.h>
#include <libveos.h>
#include <libvhcall.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
#include <ve_offload.h>

/* Of the program. */
extern struct veo_proc_handle* the_proc;
extern struct veo_thr_ctxt* the_context;
extern uint64_t the_library, later_request;
extern sem_t arrived, released;
extern pthread_barrier_t meeting;
extern long counted;

long invert(veos_handle* caller, const void* in, size_t insz, void* out, size_t outsz) {
  if (caller == NULL || outsz < insz) return -1;
  for (size_t i = 0; i < insz; ++i) ((char*)out)[i] = (char)~((const char*)in)[i];
  return (long)insz;
}

long sizes(veos_handle* caller, const void* in, size_t insz, void* out, size_t outsz) {
  return caller != NULL && in == NULL && out == NULL ? (long)(insz + outsz) : -1;
}

long add(long a, long b) { return a + b; }

long all_kinds(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, int64_t g, uint64_t h, float i,
               double j) {
  return a == -8 && b == 208 && c == -16 && d == 50000 && e == -32 && f == 4000000000U && g == -64 &&
                 h == 10000000000000000000UL && i == 1.25F && j == -2.5
             ? 4711
             : 0;
}

/* Also reads and writes a variable of the kernels' by address. */
long pointers(const long* in, long* inout, long* out, veos_handle* caller, uint64_t variable) {
  long there = 0;
  if (ve_recv_data(caller, variable, sizeof there, &there) != 0) return -1;
  const long result = there++;
  if (ve_send_data(caller, variable, sizeof there, &there) != 0) return -2;
  if (ve_recv_data(caller, 8, sizeof there, &there) != -1 || errno != EFAULT) return -3;
  for (int i = 0; i < 3; ++i) inout[i] += in[i];
  out[0] = out[0] == 0 && out[2] == 0 ? 1 : -1; /* zero at first */
  return result;
}

long count_one(veos_handle* caller, const void* in, size_t insz, void* out, size_t outsz) {
  (void)caller, (void)in, (void)insz, (void)out, (void)outsz;
  return __atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED);
}

long nap(long milliseconds, long unused) {
  (void)unused;
  usleep((useconds_t)milliseconds * 1000);
  return 0;
}

long arrive(long a, long b) {
  sem_post(&arrived);
  return a + b;
}

long gather(long a, long b) {
  pthread_barrier_wait(&meeting);
  return a + b;
}

long stay(long a, long b) {
  sem_post(&arrived);
  while (sem_wait(&released) != 0) continue;
  return a + b;
}

long leave(long status, long unused) {
  (void)unused;
  exit((int)status);
}

/* VEO within a function that a kernel of the main context has called: 0, or the line that failed. */
#define EXPECT(condition)              \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)

long use_veo(long depth, long unused) {
  (void)unused;
  uint64_t address = 0, result = 0;
  long value = 42, back = 0;
  EXPECT(veo_alloc_mem(the_proc, &address, sizeof value) == 0);
  EXPECT(veo_write_mem(the_proc, address, &value, sizeof value) == 0);
  EXPECT(veo_read_mem(the_proc, &back, address, sizeof back) == 0 && back == 42);
  EXPECT(veo_free_mem(the_proc, address) == 0);
  EXPECT(veo_get_sym(the_proc, the_library, "how_far") != 0);
  EXPECT(veo_get_sym(the_proc, the_library, "no_such_kernel") == 0);
  struct veo_args* args = veo_args_alloc();
  const char name[] = "use_veo", adding[] = "add";
  if (depth > 0)
    veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)name, sizeof name);
  else
    veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)adding, sizeof adding);
  veo_args_set_i64(args, 1, depth - 1);
  veo_args_set_i64(args, 2, 1);
  EXPECT(veo_call_sync(the_proc, veo_get_sym(the_proc, the_library, "call_by_name"), args, &result) == 0);
  EXPECT((long)result == 0); /* of the function called there, and add(-1, 1) */
  veo_args_free(args);
  /* What could only happen after this function: an error, no waiting for ever. */
  if (later_request != VEO_REQUEST_ID_INVALID) EXPECT(veo_call_wait_result(the_context, later_request, &result) == -1);
  EXPECT(veo_proc_destroy(the_proc) == -1 && errno == EDEADLK);
  EXPECT(veo_context_open(the_proc) == NULL && errno == EDEADLK);
  veo_context_sync(the_context);
  return 0;
}
