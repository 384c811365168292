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
    : columns_(columns),
      rows_(rows),
      distance_((columns * rows + page - 1) / page * page + page / 2),
      plates_(distance_ + columns * rows, edge) {
  for (std::size_t row = 1; row + 1 < rows; ++row) std::fill_n(now() + row * columns + 1, columns - 2, inner);
  std::copy_n(now(), columns * rows, next());
}

std::vector<double> field::step(std::span<const double> edge, std::uint64_t sweeps) {
  if (edge.size() != columns_) throw std::invalid_argument("the edge is not as long as the field");
  std::ranges::copy(edge, now());
  std::ranges::copy(edge, next());
  for (std::uint64_t sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t row = 1; row + 1 < rows_; ++row)
      relax_row(now() + row * columns_, next() + row * columns_, columns_);
    flipped_ = !flipped_;
  }
  return {now() + columns_, now() + 2 * columns_};
}

std::vector<double> field::points() const {
  const double* const first = plates_.data() + (flipped_ ? distance_ : 0);
  return {first, first + columns_ * rows_};
}

}  // namespace coupled
