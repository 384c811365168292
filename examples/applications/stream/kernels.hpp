// The four kernels of STREAM, and what the arrays must hold after them.
#pragma once

#include <cstddef>
#include <string_view>

namespace stream {

enum class kernel : unsigned char { copy, scale, add, triad };
inline constexpr kernel kernels[] = {kernel::copy, kernel::scale, kernel::add, kernel::triad};

/// What one element of a kernel costs.
struct cost {
  std::string_view name;
  int bytes;  ///< read and written, as STREAM counts: without reading the lines that are written
  int flops;
};
[[nodiscard]] cost cost_of(kernel which);

/// The factor of scale and triad, sqrt(2) - 1: all four then change the values by rounding errors only.
inline constexpr double factor = 0.41421356237309503;

/// copy: c = a. scale: b = factor c. add: c = a + b. triad: a = b + factor c. The arrays must not overlap.
void run(kernel which, double* a, double* b, double* c, std::size_t size);

/// Values of one element.
struct element {
  double a, b, c;
};
/// At the start. Neighbours differ, so that a kernel that mixes them up is found out.
[[nodiscard]] element initial(std::size_t index);
/// After the kernels up to and including `last`. Its own plain code.
[[nodiscard]] element after(element start, kernel last);

}  // namespace stream
