// Which functions can be offloaded: overloads, templates, static and other members, noexcept functions.
// expect: overload 2, template 2.5, static member 10, member 7, noexcept -1
#include <ham/offload.hpp>

#include <algorithm>
#include <iostream>

using namespace ham;

int overloaded(int x) { return x + 1; }
int overloaded(int x, int y) { return x + y; }

template <class T>
T larger(T a, T b) {
  return std::max(a, b);
}

struct point {
  int x;
  int y;
  static int ten() { return 10; }
  int sum() const { return x + y; }
};

int negate(int x) noexcept { return -x; }

int main() {
  // A cast picks one of several overloads.
  const int a = offload::sync(1, fn<static_cast<int (*)(int)>(&overloaded)>, 1);
  const double b = offload::sync(1, fn<&larger<double>>, 1.5, 2.5);
  const int c = offload::sync(1, fn<&point::ten>);
  const int d = offload::sync(1, fn<&point::sum>, point{3, 4});  // the object comes first; a copy of it travels
  const int e = offload::sync(1, fn<&negate>, 1);
  std::cout << "overload " << a << ", template " << b << ", static member " << c << ", member " << d << ", noexcept "
            << e << '\n';
}
