// C = A B on a target, whose matrices stay there.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "gemm/peak.hpp"

namespace gemm {

/// Lives on its target.
template <class Number>
class product {
 public:
  /// A and B of size x size with the entries of check.hpp. Uses one thread of OpenBLAS.
  explicit product(std::uint64_t size);

  void run();
  /// As check.hpp's, of the last product; C is then overwritten, so that the next one has to be computed.
  double deviation();

 private:
  std::size_t size_;
  std::vector<Number> a_, b_, c_;
};

extern template class product<float>;
extern template class product<double>;

/// A release of OpenBLAS that does not know the processor uses kernels for the oldest one that it knows, and chooses
/// when it is loaded. Has those for the vector units of this processor used, unless OPENBLAS_CORETYPE says otherwise:
/// starts the program again, with that set. Before anything else is done.
void choose_kernels(char** argv);

/// What OpenBLAS says about itself: version, and the processor that it is tuned for.
std::string openblas_configuration();

struct peak_of_core {
  double gflops = 0.0;
  std::string unit;
  HAM_FIELDS(gflops, unit)
};
peak_of_core peak_here(precision which, double milliseconds);

}  // namespace gemm
