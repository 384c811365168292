// A library that programs load while a job runs. It brings the function and the code that calls it elsewhere.
#include <ham/offload.hpp>

#include <vector>

using namespace ham;

namespace {

double dot(const std::vector<double>& left, const std::vector<double>& right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

}  // namespace

/// What the program finds by dlsym: the dot product of 1..n with itself, computed on `node`.
extern "C" double sum_of_squares_on(int node, int n) {
  std::vector<double> numbers;
  for (int i = 1; i <= n; ++i) numbers.push_back(i);
  return offload::sync(node, fn<&dot>, numbers, numbers);
}
