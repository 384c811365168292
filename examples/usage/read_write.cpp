// read, write: the transfers in the spelling of the Xeon Phi paper (Listing 2), synchronous.
// expect: fun_mul gave 6, the buffer came back with 5
#include <ham/offload.hpp>

#include <iostream>
#include <vector>

using namespace ham;

float fun_mul(float a, float b) { return a * b; }

int main() {
  // A functor that binds the function to its arguments, offloaded to node 1.
  auto functor = f2f(&fun_mul, 2.0F, 3.0F);
  const float result = offload::sync(1, functor);

  const std::size_t n = 16;
  std::vector<float> buffer_host(n, 5.0F);
  std::vector<float> returned(n);
  auto buffer_target = offload::allocate<float>(1, n);
  offload::write(1, buffer_target, buffer_host.data(), n);
  offload::read(1, buffer_target, returned.data(), n);
  offload::free(1, buffer_target);

  std::cout << "fun_mul gave " << result << ", the buffer came back with " << returned.back() << '\n';
}
