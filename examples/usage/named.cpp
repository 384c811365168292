// named: gives a lambda a name on which the binaries of different compilers agree.
// expect: 2 to the 10 is 1024
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

int main() {
  // Compilers mangle lambdas differently. Where host and target are built by different compilers, or for different
  // instruction sets, the key stands for the callable instead. It must be unique in the program.
  const auto power = named<"power">([](long base, int exponent) {
    long result = 1;
    for (int i = 0; i < exponent; ++i) result *= base;
    return result;
  });
  std::cout << "2 to the 10 is " << offload::sync(1, power, 2L, 10) << '\n';
}
