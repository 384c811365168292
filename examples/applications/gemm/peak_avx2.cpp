// Vectors of 32 bytes.
#include "gemm/peak_kernel.hpp"

namespace gemm {

double peak_avx2(std::size_t rounds, double factor, double term) {
  return peak_rounds<double, 32>(rounds, factor, term);
}
float peak_avx2(std::size_t rounds, float factor, float term) { return peak_rounds<float, 32>(rounds, factor, term); }

}  // namespace gemm
