// Vectors of 64 bytes.
#include "gemm/peak_kernel.hpp"

namespace gemm {

double peak_avx512(std::size_t rounds, double factor, double term) {
  return peak_rounds<double, 64>(rounds, factor, term);
}
float peak_avx512(std::size_t rounds, float factor, float term) { return peak_rounds<float, 64>(rounds, factor, term); }

}  // namespace gemm
