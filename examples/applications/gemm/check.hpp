// Matrices of known content, and the naive product of a sample of their rows and columns.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gemm {

/// A number in [-1, 1) that depends on all of `matrix`, `row` and `column`. Exact in float.
[[nodiscard]] double entry(std::uint32_t matrix, std::size_t row, std::size_t column);

/// The largest deviation of entries of `c` from the naive product of matrices 0 and 1 (entry()), relative to the bound
/// that rounding allows, size * epsilon * sum |a| |b|: at most 1 for a right product. Checks `samples` entries that are
/// spread over the matrix, and its corners. `c` is of size x size, row by row.
template <class Number>
[[nodiscard]] double deviation(std::span<const Number> c, std::size_t size, std::size_t samples);

extern template double deviation(std::span<const float> c, std::size_t size, std::size_t samples);
extern template double deviation(std::span<const double> c, std::size_t size, std::size_t samples);

}  // namespace gemm
