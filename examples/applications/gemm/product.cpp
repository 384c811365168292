// OpenBLAS through the C interface to BLAS.
#include "gemm/product.hpp"

#if __has_include(<cblas-openblas.h>)
#include <cblas-openblas.h>
#else
#include <cblas.h>
#endif

#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string_view>

#include "gemm/check.hpp"

namespace gemm {
namespace {

void multiply(int n, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a, n, b, n, 0.0, c, n);
}
void multiply(int n, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0F, a, n, b, n, 0.0F, c, n);
}

}  // namespace

template <class Number>
product<Number>::product(std::uint64_t size) : size_(size), a_(size * size), b_(size * size), c_(size * size) {
  openblas_set_num_threads(1);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      a_[row * size + column] = static_cast<Number>(entry(0, row, column));
      b_[row * size + column] = static_cast<Number>(entry(1, row, column));
    }
  }
}

template <class Number>
void product<Number>::run() {
  multiply(static_cast<int>(size_), a_.data(), b_.data(), c_.data());
}

template <class Number>
double product<Number>::deviation() {
  constexpr std::size_t samples = 100;
  const double found = gemm::deviation(std::span<const Number>(c_), size_, samples);
  c_.assign(c_.size(), std::numeric_limits<Number>::infinity());
  return found;
}

template class product<float>;
template class product<double>;

std::string openblas_configuration() { return openblas_get_config(); }

void choose_kernels([[maybe_unused]] char** argv) {
#if defined(__x86_64__)
  constexpr std::string_view fallback = "Prescott";
  constexpr int keep = 0;
  if (openblas_get_corename() != fallback || ::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    ::setenv("OPENBLAS_CORETYPE", "SkylakeX", keep);
  else if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0)
    ::setenv("OPENBLAS_CORETYPE", "Haswell", keep);
  else
    return;
  ::execv("/proc/self/exe", argv);  // if it fails, only the threads of this process keep the others
#endif
}

peak_of_core peak_here(precision which, double milliseconds) {
  const peak found = measure_peak(which, milliseconds);
  return {found.gflops, found.unit};
}

}  // namespace gemm
