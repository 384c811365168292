// A program in the form of paper 1's Fig. 2: memory on a target, a put, an offloaded function that runs there.
#include <cstddef>
#include <iostream>
#include <vector>

#include "ham/offload.hpp"

using namespace ham;

double inner_product(offload::buffer_ptr<double> x, offload::buffer_ptr<double> y, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += x[i] * y[i];
  }
  return sum;
}

int main() {
  constexpr std::size_t n = 1024;
  const offload::node_t target = 1;
  std::vector<double> x(n, 2.0);
  std::vector<double> y(n, 3.0);

  auto target_x = offload::allocate<double>(target, n);
  auto target_y = offload::allocate<double>(target, n);
  auto put_x = offload::put(x.data(), target_x, n);
  offload::put(y.data(), target_y, n);
  put_x.get();
  auto result = offload::async(target, f2f(&inner_product, target_x, target_y, n));

  const double value = result.get();
  offload::free(target_x);
  offload::free(target_y);
  std::cout << "inner product on node " << target << " of " << offload::num_nodes() << ": " << value << '\n';
  return value == 6.0 * n ? 0 : 1;
}
