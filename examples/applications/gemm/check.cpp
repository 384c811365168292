// Sums in long double, whose error does not count.
#include "gemm/check.hpp"

#include <algorithm>
#include <limits>

namespace gemm {

double entry(std::uint32_t matrix, std::size_t row, std::size_t column) {
  std::uint64_t mixed =
      (row * 0x9E3779B97F4A7C15ull) ^ (column * 0xC2B2AE3D27D4EB4Full) ^ (matrix + 1) * 0x165667B19E3779F9ull;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9ull;
  mixed ^= mixed >> 32;
  return static_cast<double>(mixed & 0xFFFF) / 32768.0 - 1.0;
}

template <class Number>
double deviation(std::span<const Number> c, std::size_t size, std::size_t samples) {
  double worst = 0.0;
  const std::size_t last = size - 1;
  for (std::size_t i = 0; i < samples + 4; ++i) {
    std::size_t row = i * 7919 % size;
    std::size_t column = i * 104729 / 3 % size;
    if (i < 4) {
      row = i % 2 == 0 ? 0 : last;
      column = i / 2 == 0 ? 0 : last;
    }
    long double right = 0.0L;
    long double magnitude = 0.0L;
    for (std::size_t k = 0; k < size; ++k) {
      const long double term = static_cast<long double>(entry(0, row, k)) * entry(1, k, column);
      right += term;
      magnitude += std::abs(term);
    }
    const auto bound = static_cast<long double>(size) * std::numeric_limits<Number>::epsilon() * magnitude;
    const long double found = std::abs(static_cast<long double>(c[row * size + column]) - right);
    // Written so that a deviation that is not a number counts.
    const double relative = found <= 0.0L ? 0.0 : static_cast<double>(found / bound);
    worst = relative <= worst ? worst : relative;
    if (!(relative <= 1e300)) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

template double deviation(std::span<const float> c, std::size_t size, std::size_t samples);
template double deviation(std::span<const double> c, std::size_t size, std::size_t samples);

}  // namespace gemm
