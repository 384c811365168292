#include "functions.hpp"

HAM_DEVICE double length(ham::offload::buffer_ptr<float> x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}
