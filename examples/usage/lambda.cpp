// Lambdas and function objects: they are offloaded like functions, captures travel with them.
// expect: 3 times 7 plus 100 is 121
// expect: the target sorted: 1 2 3
#include <ham/offload.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

using namespace ham;

struct add {
  int offset;
  int operator()(int x) const { return x + offset; }
};

int main() {
  // Captured by value: what crosses is a copy, so references and pointers to host memory do not compile.
  int factor = 3;
  const int product = offload::sync(
      1, [factor](int x) { return factor * x; }, 7);
  std::cout << "3 times 7 plus 100 is " << offload::sync(1, add{100}, product) << '\n';

  // Arguments and results may be standard containers.
  const std::vector<int> unsorted{3, 1, 2};
  const auto sorted = offload::sync(
      1,
      [](std::vector<int> numbers) {
        std::sort(numbers.begin(), numbers.end());
        return numbers;
      },
      unsorted);
  std::cout << "the target sorted:";
  for (const int number : sorted) std::cout << ' ' << number;
  std::cout << '\n';
}
