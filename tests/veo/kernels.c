/* Kernels of the tests of VEO. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "veo_hmem.h"
#include "veo_ve.h"

int64_t variable = 4711;
char text[64] = "0123456789";
static uint64_t counter;

uint64_t count(void) { return ++counter; }
uint64_t sum8(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h) {
  return (uint64_t)(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h);
}

/* All kinds, more than there are registers. 1: all arrived as they should. */
uint64_t all_kinds(int8_t i8, int16_t i16, int32_t i32, int64_t i64, uint8_t u8, uint16_t u16, uint32_t u32,
                   uint64_t u64, int8_t late, double d0, double d1, double d2, double d3, double d4, double d5,
                   double d6, double d7, double d8, double d9, float f) {
  return i8 == -8 && i16 == -16 && i32 == -32 && i64 == -64 && u8 == 208 && u16 == 50000 && u32 == 4000000000U &&
         u64 == 10000000000000000000UL && late == -1 && d0 == 0.5 && d1 == 1.5 && d2 == 2.5 && d3 == 3.5 && d4 == 4.5 &&
         d5 == 5.5 && d6 == 6.5 && d7 == 7.5 && d8 == 8.5 && d9 == 9.5 && f == 1.25F;
}

/* Doubles what is in `inout`, writes the sum of `in` to `out`, changes `in`. */
uint64_t stacks(int32_t* in, uint64_t n, int32_t* inout, int64_t* out) {
  *out = 0;
  for (uint64_t i = 0; i < n; ++i) {
    *out += in[i];
    inout[i] *= 2;
    in[i] = -1;
  }
  return ((uintptr_t)in | (uintptr_t)inout | (uintptr_t)out) % 8;
}
uint64_t sum_bytes(const unsigned char* bytes, uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; ++i) sum += bytes[i];
  return sum;
}
uint64_t fill(char* to, uint64_t n, int value) {
  memset(to, value, n);
  return n;
}
uint64_t leave_alone(void) { return 0; }

double half(double x) { return x / 2; }
float third(float x) { return x / 3; }
int negative(void) { return -5; }

uint64_t thread_number(void) { return (uint64_t)syscall(SYS_gettid); }
uint64_t core(void) { return (uint64_t)sched_getcpu(); }
uint64_t number_of_cores(void) {
  cpu_set_t all;
  return sched_getaffinity(0, sizeof all, &all) == 0 ? (uint64_t)CPU_COUNT(&all) : 0;
}
uint64_t process_number(void) { return (uint64_t)getpid(); }
uint64_t sleep_ms(uint64_t ms) {
  usleep((useconds_t)(ms * 1000));
  return ms;
}
uint64_t spin(void) {
  for (;;) {
  }
}

/* Two contexts that are inside at once. */
static volatile int inside;
uint64_t rendezvous(uint64_t others) {
  __sync_fetch_and_add(&inside, 1);
  for (int i = 0; i < 10000 && inside < (int)others; ++i) usleep(1000);
  return inside >= (int)others;
}
static volatile int gate;
uint64_t open_gate(void) {
  gate = 1;
  return 1;
}
uint64_t wait_at_gate(void) {
  for (int i = 0; i < 20000 && !gate; ++i) usleep(500);
  const int was = gate;
  gate = 0;
  return (uint64_t)was;
}

uint64_t previous(int offs) {
  uint64_t value = 0;
  return veo_prev_req_result(offs, &value) == 0 ? value : ~0UL;
}
uint64_t write_to_previous(int offs) {
  uint64_t address = 0;
  if (veo_prev_req_result(offs, &address) != 0) return 0;
  strcpy((char*)address, "found");
  return address;
}

uint64_t hmem_first(void* tagged) {
  if (!veo_is_ve_addr(tagged)) return 0;
  return *(uint64_t*)veo_get_hmem_addr(tagged) + (uint64_t)veo_get_proc_identifier_from_hmem(tagged);
}
uint64_t hmem_raw(const uint64_t* tagged) { return *tagged; }
uint64_t make_block(uint64_t n) {
  char* block = malloc(n);
  memset(block, 'k', n);
  return (uint64_t)block;
}

static uint64_t deep(uint64_t levels) {
  volatile char room[1 << 16];
  room[0] = (char)levels;
  return levels == 0 ? (uint64_t)room[0] : deep(levels - 1) + (room[0] != (char)levels);
}
uint64_t use_stack(uint64_t mib) { return deep(mib * 16) == 0; }

uint64_t crash(int signal) {
  if (signal == SIGSEGV) return *(volatile uint64_t*)8;
  if (signal == SIGABRT) abort();
  if (signal == SIGFPE) {
    volatile int zero = 0;
    raise(SIGFPE);
    return (uint64_t)zero;
  }
  if (signal == SIGILL) __builtin_trap();
  raise(signal);
  return 0;
}
uint64_t overflow(void) { return deep(1UL << 40); }
static void* crash_there(void* unused) {
  *(volatile int*)16 = (int)(intptr_t)unused;
  return NULL;
}
uint64_t crash_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, &crash_there, NULL);
  pthread_join(thread, NULL);
  return 0;
}
uint64_t leave(int status) {
  exit(status);
  return 0;
}
uint64_t hello(void) { return (uint64_t)printf("Hello, world"); }

static void say_goodbye(void) { printf("goodbye of %s\n", getenv("VE_NODE_NUMBER")); }
uint64_t at_exit(void) { return (uint64_t)atexit(&say_goodbye); }
uint64_t omp_variable(void) {
  const char* text_of = getenv("OMP_NUM_THREADS");
  return text_of == NULL ? 0 : strtoul(text_of, NULL, 10);
}
