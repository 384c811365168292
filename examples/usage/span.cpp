// span: put, get and calls with ranges and buffers; parts of a matrix.
// expect: the sum of 1 to 10 is 55, of the last three 27
// expect: the middle of the matrix: 5 6 9 10
#include <ham/offload.hpp>

#include <iostream>
#include <numeric>
#include <span>
#include <vector>

using namespace ham;

double sum(buffer_span<const double> values) {
  double result = 0;
  for (const double value : values.local()) result += value;  // on the node whose memory it is
  return result;
}

int main() {
  std::vector<double> here(10);
  std::iota(here.begin(), here.end(), 1);

  const buffer<double> there(1, here.size());
  offload::put(here, there).get();
  std::cout << "the sum of 1 to 10 is " << offload::sync(1, fn<&sum>, there);
  std::cout << ", of the last three " << offload::sync(1, fn<&sum>, there.subspan(7)) << '\n';

  offload::get(there.subspan(4, 2), std::span(here).first(2)).get();
  if (here[0] != 5 || here[1] != 6) return 1;

  // A matrix of 4 x 4 there, and its middle here. Views check that what they are given lies inside.
  std::vector<int> numbers(16);
  std::iota(numbers.begin(), numbers.end(), 0);
  const buffer<int> memory(1, numbers.size());
  offload::put(numbers, memory).get();
  std::vector<int> middle(4);
  offload::get(buffer_matrix<int>(memory, 4, 4).part(1, 1, 2, 2), matrix_span<int>(middle.data(), 2, 2)).get();
  std::cout << "the middle of the matrix:";
  for (const int number : middle) std::cout << ' ' << number;
  std::cout << '\n';
}
