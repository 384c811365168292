// Two revisions of one application: REVISION is 1 (older) or 2 (newer).
#pragma once

#include <cstdint>
#include <string>

#include "ham/offload.hpp"

namespace app {

struct particle {
  double x = 0;
#if REVISION == 2
  float weight = 0;
#endif
  std::int32_t charge = 0;
};

struct flags {
#if REVISION == 1
  unsigned kind : 4;
  unsigned state : 4;
#else
  unsigned kind : 3;
  unsigned state : 5;
#endif
  std::uint16_t more;
};

struct padded {
  std::int32_t a = 0;
#if REVISION == 2
  alignas(8)
#endif
      std::int32_t b = 0;
#if REVISION == 1
  std::int32_t c = 0, d = 0;
#endif
};

int both(int a, int b);
std::string greet(const std::string& name);
double mass(const particle& one);
int state_of(flags what);
int second_of(padded what);
#if REVISION == 1
int removed(int a);
long scaled(long value, int factor);
int aaa_first_by_name();
#else
int added(int a);
long scaled(long value, double factor);
int zzz_last_by_name();
#endif

constexpr auto area = ham::named<"app.area">(
#if REVISION == 1
    [](double width, float height) { return width * static_cast<double>(height); }
#else
    [](double width, double height) { return width * height; }
#endif
);
constexpr auto twice = ham::named<"app.twice">([](int a) { return 2 * a; });

}  // namespace app
