/* Kernels whose types matter: floating-point numbers, narrow integers, pointers. Built with and without debug
 * information. None of them knows of tagged pointers. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

double scale(double x, int n, float f) { return x * n + f; }
float shrink(float x, double by) { return x / (float)by; }
int64_t as_integers(int64_t a, uint32_t b) { return a + b; }

/* 1: each arrived as its own type has it. */
int narrow(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, bool g) {
  return a == -1 && b == 255 && c == -2 && d == 65534 && e == -3 && f == 4294967293U && g;
}
int8_t minus_one(void) { return -1; }
uint8_t two_hundred(void) { return 200; }
int16_t minus_three(void) { return -3; }
uint32_t largest(void) { return 4294967295U; }
int64_t wide(void) { return 0x100000001; }
static uint64_t calls;
void nothing(void) { ++calls; }
uint64_t calls_of_nothing(void) { return calls; }

/* More than there are registers of either kind. */
double many(double a, int64_t b, double c, int64_t d, double e, int64_t f, double g, int64_t h, double i, int64_t j,
            double k, int64_t l, double m, int64_t n, double o, int64_t p, double q, int64_t r, float s) {
  return a + 2 * (double)b + 3 * c + 4 * (double)d + 5 * e + 6 * (double)f + 7 * g + 8 * (double)h + 9 * i +
         10 * (double)j + 11 * k + 12 * (double)l + 13 * m + 14 * (double)n + 15 * o + 16 * (double)p + 17 * q +
         18 * (double)r + 19 * s;
}

double sum_of(int count, ...) {
  double sum = 0;
  va_list all;
  va_start(all, count);
  for (int i = 0; i < count; ++i) sum += va_arg(all, double);
  va_end(all);
  return sum;
}

/* As before C89: callers pass the float as a double. */
double old_style(x, n)
float x;
short n;
{ return (double)x * n; }

typedef struct {
  double x, y, z;
} vector;
vector hidden_argument(double x) { return (vector){x, x, x}; }

double first_of(const double* values) { return values[0]; }
uint64_t second_of(uint64_t address) { return ((const uint64_t*)address)[1]; }
double last_of(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h,
               const double* const* lists) {
  return lists[0][0] + (double)(a + b + c + d + e + f + g + h);
}
uint64_t bits_of(const void* pointer) { return (uint64_t)pointer; }

/* Takes the first two of the arguments that are set. */
double complex_first(double _Complex z, int n, double x) { return __real__ z + 10 * __imag__ z + 100 * n + x; }
int no_pointer(int address) { return address != 0; }
