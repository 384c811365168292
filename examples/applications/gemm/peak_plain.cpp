// Vectors of 16 bytes.
#include "gemm/peak_kernel.hpp"

namespace gemm {

double peak_plain(std::size_t rounds, double factor, double term) {
  return peak_rounds<double, 16>(rounds, factor, term);
}
float peak_plain(std::size_t rounds, float factor, float term) { return peak_rounds<float, 16>(rounds, factor, term); }

}  // namespace gemm
