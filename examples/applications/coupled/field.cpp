// A five-point stencil row by row.
#include "coupled/field.hpp"

#include <algorithm>
#include <stdexcept>

namespace coupled {
namespace {

void relax_row(const double* now, double* __restrict next, std::size_t columns) {
  const double* const above = now + columns;
  const double* const below = now - columns;
  for (std::size_t i = 1; i + 1 < columns; ++i) {
    next[i] = now[i] + 0.2 * ((now[i - 1] - 2.0 * now[i] + now[i + 1]) + (above[i] - 2.0 * now[i] + below[i]));
  }
}

}  // namespace

field::field(std::uint64_t columns, std::uint64_t rows, double inner, double edge)
    : columns_(columns), rows_(rows), now_(columns * rows, edge) {
  for (std::size_t row = 1; row + 1 < rows; ++row) {
    const auto begin = now_.begin() + static_cast<std::ptrdiff_t>(row * columns);
    std::fill(begin + 1, begin + static_cast<std::ptrdiff_t>(columns) - 1, inner);
  }
  next_ = now_;
}

std::vector<double> field::step(std::span<const double> edge, std::uint64_t sweeps) {
  if (edge.size() != columns_) throw std::invalid_argument("the edge is not as long as the field");
  std::ranges::copy(edge, now_.begin());
  std::ranges::copy(edge, next_.begin());
  for (std::uint64_t sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t row = 1; row + 1 < rows_; ++row) {
      relax_row(now_.data() + row * columns_, next_.data() + row * columns_, columns_);
    }
    now_.swap(next_);
  }
  const auto inner = now_.begin() + static_cast<std::ptrdiff_t>(columns_);
  return {inner, inner + static_cast<std::ptrdiff_t>(columns_)};
}

}  // namespace coupled
