// The sample of products that the gemm example checks, and the peak that it compares with.
#include "gemm/check.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "gemm/peak.hpp"

namespace {

template <class Number>
std::vector<Number> naive_product(std::size_t size) {
  std::vector<Number> c(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      Number sum = 0;
      for (std::size_t k = 0; k < size; ++k) {
        sum += static_cast<Number>(gemm::entry(0, i, k)) * static_cast<Number>(gemm::entry(1, k, j));
      }
      c[i * size + j] = sum;
    }
  }
  return c;
}

template <class Number>
double deviation_of(const std::vector<Number>& c, std::size_t size) {
  return gemm::deviation(std::span<const Number>(c), size, 50);
}

TEST(gemm_check, a_right_product_is_within_what_rounding_allows) {
  for (const std::size_t size : {1u, 2u, 31u, 64u}) {
    EXPECT_LE(deviation_of(naive_product<double>(size), size), 1.0) << size;
    EXPECT_LE(deviation_of(naive_product<float>(size), size), 1.0) << size;
  }
}

TEST(gemm_check, a_wrong_product_is_not) {
  constexpr std::size_t size = 31;
  std::vector<double> c = naive_product<double>(size);
  c[0] += 1e-9;
  EXPECT_GT(deviation_of(c, size), 1.0);
  c = naive_product<double>(size);
  c[size * size - 1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_GT(deviation_of(c, size), 1.0);
  EXPECT_GT(deviation_of(std::vector<double>(size * size, 0.0), size), 1.0);
}

TEST(gemm_check, entries_differ_and_are_exact_in_float) {
  EXPECT_NE(gemm::entry(0, 1, 2), gemm::entry(1, 1, 2));
  EXPECT_NE(gemm::entry(0, 1, 2), gemm::entry(0, 2, 1));
  for (std::size_t i = 0; i < 100; ++i) {
    const double value = gemm::entry(0, i, 3 * i);
    EXPECT_GE(value, -1.0);
    EXPECT_LT(value, 1.0);
    EXPECT_EQ(static_cast<double>(static_cast<float>(value)), value);
  }
}

TEST(gemm_peak, a_unit_is_found_and_computes) {
  for (const auto which : {gemm::precision::single_, gemm::precision::double_}) {
    const gemm::peak found = gemm::measure_peak(which, 1.0);
    EXPECT_GT(found.gflops, 0.0);
    EXPECT_FALSE(found.unit.empty());
  }
}

}  // namespace
