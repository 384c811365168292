// The functions of both revisions, in different order.
#include "application.hpp"

namespace app {

#if REVISION == 1
int aaa_first_by_name() { return 1; }
int removed(int a) { return a; }
#endif
int both(int a, int b) { return 10 * a + b; }
double mass(const particle& one) { return one.x; }
#if REVISION == 1
long scaled(long value, int factor) { return value * factor; }
#else
long scaled(long value, double factor) { return static_cast<long>(static_cast<double>(value) * factor); }
int added(int a) { return a; }
int zzz_last_by_name() { return 2; }
#endif
int state_of(flags what) { return static_cast<int>(what.state); }
int second_of(padded what) { return what.b; }
std::string greet(const std::string& name) { return "hello " + name; }

}  // namespace app
