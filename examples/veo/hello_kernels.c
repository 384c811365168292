// Kernels of hello.c and static.c.
#include <stdint.h>
#include <stdio.h>

int64_t hello(int64_t a, int64_t b) {
  printf("Hello from a kernel\n");
  return a * b;
}
