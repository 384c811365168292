/* CHECK: says where a test has failed, and ends it. */
#ifndef HAM_TESTS_VEO_CHECK_H
#define HAM_TESTS_VEO_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                       \
    }                                                                           \
  } while (0)

#endif
