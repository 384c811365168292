// Kernels of many forms. Compiled several times, with the debug information of several versions and compilers, or none;
// PREFIX keeps the names of the variants apart.
#include <complex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdexcept>

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define K(name) JOIN(PREFIX, name)

extern "C" {

char K(seen)[400];

void K(listing)(double a, int b, char c) { snprintf(K(seen), sizeof K(seen), "%g %d %c", a, b, c); }

void K(nothing)() { strcpy(K(seen), "nothing"); }

void K(many)(double a, int b, char c, float d, long e, short f, double g, float h, unsigned char i, double j, int k,
             double l, double m, double n, double o, unsigned long long p, signed char q, float r, bool s, double t) {
  snprintf(K(seen), sizeof K(seen), "%g %d %d %g %ld %d %g %g %d %g %d %g %g %g %g %llu %d %g %d %g", a, b, c,
           static_cast<double>(d), e, f, g, static_cast<double>(h), i, j, k, l, m, n, o, p, q, static_cast<double>(r),
           static_cast<int>(s), t);
}

enum colour { red, green = 7 };
typedef const unsigned count_type;
struct point {
  double x;
  float y[2];
};
struct shape {
  struct point corner;
  int id;
  char tag[3];
};

long long K(structures)(enum colour c, count_type n, const struct shape s, struct point p) {
  snprintf(K(seen), sizeof K(seen), "%d %u %g %g %g %d %.3s %g %g", static_cast<int>(c), n, s.corner.x,
           static_cast<double>(s.corner.y[0]), static_cast<double>(s.corner.y[1]), s.id, s.tag, p.x,
           static_cast<double>(p.y[1]));
  return -5000000000LL;
}

int K(pointers)(const double* values, int count, const struct shape& one, const char* text, void* none) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  snprintf(K(seen), sizeof K(seen), "%g %d %s %d", sum, one.id, text, static_cast<int>(none == nullptr));
  return -7;
}

short K(small_result)(short a) { return static_cast<short>(a - 1); }

void K(refused_pointers)(char** names) { (void)names; }
void K(refused_function)(void (*callback)(int)) { (void)callback; }
union both {
  int i;
  float f;
};
void K(refused_union)(union both u) { (void)u; }
struct bits {
  unsigned low : 3;
  unsigned high : 5;
};
void K(refused_bits)(struct bits b) { (void)b; }
struct holder {
  int* where;
};
void K(refused_member)(struct holder h) { (void)h; }
struct __attribute__((packed)) tight {
  char a;
  double b;
};
void K(refused_packed)(struct tight t) { (void)t; }
void K(refused_variadic)(int n, ...) { (void)n; }

// What happens to be right without types as well.
void K(open)(short a, unsigned char b, float c) {
  snprintf(K(seen), sizeof K(seen), "%d %d %g", a, b, static_cast<double>(c));
}
void K(open_integer)(short a, long b) { snprintf(K(seen), sizeof K(seen), "%d %ld", a, b); }

// What kernels should not do.
void K(throws)(int what) {
  if (what == 0) throw 5;
  throw std::runtime_error("as asked");
}
void K(crashes)(int signal) { raise(signal); }
void K(exits)(int code) { exit(code); }

}  // extern "C"
