// How many operations per second the vector unit of a core does at most, as long as it goes on: independent
// multiplications and additions on registers. What products are compared with.
#pragma once

#include <string>

namespace gemm {

enum class precision : unsigned char { single_, double_ };

struct peak {
  double gflops = 0.0;
  std::string unit;  ///< "AVX-512", "AVX2 with FMA" or "baseline"
};

/// The median of the turns that fit into `milliseconds`, at least one, on the calling thread.
[[nodiscard]] peak measure_peak(precision which, double milliseconds);

}  // namespace gemm
