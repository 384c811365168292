/* The clock that cores have: clock CORE... prints a line "CORE GHZ GHZ" for each sample of each of these cores: of the
   time that this process had the core, and of the time that passed, in which others may have had it. A sample is some
   milliseconds of additions each of which waits for the one before: one a cycle. What is added is in a register,
   because some processors do several additions of constants in one cycle. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { samples = 10, rounds = 10000 };

#define ADD     \
  value += one; \
  __asm__ volatile("" : "+r"(value));

static double nanoseconds(clockid_t of) {
  struct timespec now;
  clock_gettime(of, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void sample(double* ghz, double* ghz_of_elapsed) {
  const double begin = nanoseconds(CLOCK_MONOTONIC);
  const double cpu_begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  double passed = 0;
  double had = 0;
  double additions = 0;
  unsigned long value = 0;
  unsigned long one = 1;
  __asm__ volatile("" : "+r"(one));
  do {
    for (int i = 0; i < rounds; ++i) {
      ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
    }
    additions += 10.0 * rounds;
    passed = nanoseconds(CLOCK_MONOTONIC) - begin;
  } while (passed < 5e6);
  had = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  *ghz = additions / (had > 0 ? had : passed);
  *ghz_of_elapsed = additions / passed;
}

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    double ghz;
    double ghz_of_elapsed;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(strtoul(arguments[i], NULL, 10), &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
      perror(arguments[i]);
      return 1;
    }
    sample(&ghz, &ghz_of_elapsed); /* a core that was idle takes a while to get its clock */
    for (int j = 0; j < samples; ++j) {
      sample(&ghz, &ghz_of_elapsed);
      printf("%s %.4f %.4f\n", arguments[i], ghz, ghz_of_elapsed);
    }
  }
  return 0;
}
