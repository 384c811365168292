// The functions in C++ of docs/python.md, for python/tests/test_pages.py.
#include "python/kernels.inc"

std::vector<double> scale(std::span<const double> values, double factor) {
  std::vector<double> scaled(values.begin(), values.end());
  for (double& value : scaled) value *= factor;
  return scaled;
}
