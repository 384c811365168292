// The loop of peak.hpp, compiled once for each vector unit: included by one source each.
#pragma once

#include <cstddef>

namespace gemm {

/// What one call does; `rounds` of it.
inline constexpr std::size_t peak_accumulators = 12;

/// x = x * factor + term, on `peak_accumulators` vectors of Bytes bytes at once; a sum of all, so that none is left
/// out. Internal linkage: no copy of one vector unit may stand in for that of another.
template <class Number, std::size_t Bytes>
[[gnu::always_inline]] static inline Number peak_rounds(std::size_t rounds, Number factor, Number term) {
  typedef Number vector __attribute__((vector_size(Bytes)));
  vector x[peak_accumulators];
  for (std::size_t i = 0; i < peak_accumulators; ++i) x[i] = vector{} + static_cast<Number>(i);
  for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < peak_accumulators; ++i) x[i] = x[i] * factor + term;
  }
  vector sum = x[0];
  for (std::size_t i = 1; i < peak_accumulators; ++i) sum += x[i];
  Number total = 0;
  for (std::size_t i = 0; i < Bytes / sizeof(Number); ++i) total += sum[i];
  return total;
}

double peak_plain(std::size_t rounds, double factor, double term);
float peak_plain(std::size_t rounds, float factor, float term);
double peak_avx2(std::size_t rounds, double factor, double term);
float peak_avx2(std::size_t rounds, float factor, float term);
double peak_avx512(std::size_t rounds, double factor, double term);
float peak_avx512(std::size_t rounds, float factor, float term);

}  // namespace gemm
