/* Time in microseconds, as test programs of AVEO use it. */
#ifndef VEO_TIME_H
#define VEO_TIME_H

#include <sys/time.h>

/** Time of day: microseconds since 1970. */
static inline long get_time_us(void) {
  struct timeval now;
  gettimeofday(&now, (void*)0);
  return (long)now.tv_sec * 1000000L + (long)now.tv_usec;
}

/** Microseconds since `since`, which get_time_us has given. */
static inline long timediff_us(long since) { return get_time_us() - since; }

/** Spins for `duration` microseconds. */
static inline void busy_sleep_us(long duration) {
  const long begin = get_time_us();
  while (timediff_us(begin) < duration) {
  }
}

#endif
