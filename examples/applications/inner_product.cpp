// Inner product of two vectors on a target: the example program of the paper on HAM and the SX-Aurora (its Fig. 2).
// expect: inner product on node 1: 357913600, expected 357913600
#include <ham/offload.hpp>

#include <array>
#include <cstddef>
#include <iostream>

using namespace ham;
using namespace ham::offload;

// inner product of vector a and b
double inner_product(buffer_ptr<double> a, buffer_ptr<double> b, size_t n) {
  double r = 0.0;
  for (size_t i = 0; i < n; ++i) r += a[i] * b[i];
  return r;
}

int main() {
  // host memory
  constexpr size_t n = 1024;
  std::array<double, n> a, b;

  // initialise host memory
  for (size_t i = 0; i < n; ++i) {
    a[i] = static_cast<double>(i);
    b[i] = static_cast<double>(i + 1);
  }

  // target memory
  node_t target = 1;
  auto a_target = offload::allocate<double>(target, n);
  auto b_target = offload::allocate<double>(target, n);

  // transfer memory
  offload::put(a.data(), a_target, n);
  offload::put(b.data(), b_target, n);

  // async offload, returns a future<double>
  auto result = offload::async(target,
                               // function and arguments
                               f2f(&inner_product, a_target, b_target, n));

  // do something in parallel on the host: small whole numbers, so this is exact
  double expected = 0.0;
  for (size_t i = 0; i < n; ++i) expected += a[i] * b[i];

  // sync on result future
  double c = result.get();

  offload::free(a_target);
  offload::free(b_target);
  std::cout.precision(12);
  std::cout << "inner product on node " << target << ": " << c << ", expected " << expected << '\n';
  return c == expected ? 0 : 1;
}
