// Fluxes of a row at once, so that the compiler vectorises them.
#include "shallow_water/flow.hpp"

#include <algorithm>
#include <cmath>

namespace shallow_water {
namespace {

/// Fluxes of h, of the momentum across the interface and of that along it, one interface after the other.
struct flux_rows {
  double* __restrict h;
  double* __restrict across;
  double* __restrict along;
};
struct cell_rows {
  const double* h;
  const double* across;
  const double* along;
};

/// flux[i] between cells left[i] and right[i].
void fluxes(const cell_rows& left, const cell_rows& right, const flux_rows& flux, std::size_t count) {
  const double *lh = left.h, *la = left.across, *lb = left.along;
  const double *rh = right.h, *ra = right.across, *rb = right.along;
  double* __restrict fh = flux.h;
  double* __restrict fa = flux.across;
  double* __restrict fb = flux.along;
  for (std::size_t i = 0; i < count; ++i) {
    const double left_speed = la[i] / lh[i];
    const double right_speed = ra[i] / rh[i];
    const double left_wave = std::abs(left_speed) + std::sqrt(gravity * lh[i]);
    const double right_wave = std::abs(right_speed) + std::sqrt(gravity * rh[i]);
    const double wave = left_wave > right_wave ? left_wave : right_wave;
    const double left_pressure = 0.5 * gravity * lh[i] * lh[i];
    const double right_pressure = 0.5 * gravity * rh[i] * rh[i];
    fh[i] = 0.5 * (la[i] + ra[i]) - 0.5 * wave * (rh[i] - lh[i]);
    fa[i] = 0.5 * (la[i] * left_speed + left_pressure + (ra[i] * right_speed + right_pressure)) -
            0.5 * wave * (ra[i] - la[i]);
    fb[i] = 0.5 * (lb[i] * left_speed + rb[i] * right_speed) - 0.5 * wave * (rb[i] - lb[i]);
  }
}

/// One field of a row.
void update(const double* now, double* __restrict next, const double* x, const double* below, const double* above,
            double ratio, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = now[i] - ratio * ((x[i + 1] - x[i]) + (above[i] - below[i]));
  }
}

/// The cells beyond the walls at the ends of a row.
void reflect_ends(double* row, std::size_t field) {
  for (std::size_t which = 0; which < 3; ++which) {
    double* const cells = row + which * field;
    const double sign = which == 1 ? -1.0 : 1.0;
    cells[0] = sign * cells[1];
    cells[field - 1] = sign * cells[field - 2];
  }
}

void reflect_row(std::span<const double> inner, std::span<double> outer, std::size_t field) {
  for (std::size_t i = 0; i < inner.size(); ++i) outer[i] = i < 2 * field ? inner[i] : -inner[i];
}

}  // namespace

double domain::time_step() const {
  // No wave is faster than twice the celerity at the highest depth; two directions share a cell.
  return 0.45 * cell() / (2.0 * std::sqrt(gravity * max_depth));
}

std::vector<double> initial_state(const domain& of) {
  std::vector<double> state(of.size(), 0.0);
  const double cell = of.cell();
  const double height = cell * static_cast<double>(of.rows);
  const auto hill = [](double x, double y, double width) { return std::exp(-(x * x + y * y) / (width * width)); };
  for (std::size_t j = 0; j < of.rows; ++j) {
    double* const row = state.data() + j * of.row();
    const double y = (static_cast<double>(j) + 0.5) * cell;
    for (std::size_t i = 0; i < of.columns; ++i) {
      const double x = (static_cast<double>(i) + 0.5) * cell;
      row[i + 1] = 1.0 + hill(x - 0.3, y - 0.4 * height, 0.1) + 0.5 * hill(x - 0.75, y - 0.6 * height, 0.05);
    }
    reflect_ends(row, of.field());
  }
  return state;
}

long double volume(const domain& of, std::span<const double> state) {
  long double sum = 0.0L;
  for (std::size_t j = 0; j < of.rows; ++j) {
    for (std::size_t i = 1; i <= of.columns; ++i) sum += state[j * of.row() + i];
  }
  return sum * of.cell() * of.cell();
}

double volume_tolerance(std::uint64_t steps) { return 4.0 * static_cast<double>(steps + 1) * 0x1p-53; }

bool is_sound(const domain& of, std::span<const double> state) {
  for (std::size_t j = 0; j < of.rows; ++j) {
    for (std::size_t i = 1; i <= of.columns; ++i) {
      const double depth = state[j * of.row() + i];
      if (!(depth > 0.0) || !std::isfinite(depth)) return false;
    }
  }
  return true;
}

block::block(const domain& of, std::size_t first, std::size_t last)
    : of_(of),
      first_(first),
      last_(last),
      now_((last - first + 2) * of.row()),
      next_(now_.size()),
      flux_x_(3 * (of.columns + 1)),
      flux_below_(3 * of.columns),
      flux_above_(3 * of.columns) {}

void block::load(std::span<const double> state) {
  for (std::size_t number = first_ == 0 ? 0 : first_ - 1; number < std::min<std::size_t>(last_ + 1, of_.rows);
       ++number) {
    std::ranges::copy(state.subspan(number * of_.row(), of_.row()), row(number).begin());
  }
}

std::span<double> block::row_of(std::vector<double>& rows, std::size_t number) {
  return std::span<double>(rows).subspan((number + 1 - first_) * of_.row(), of_.row());
}

std::span<const double> block::own_rows() const {
  return std::span<const double>(now_).subspan(of_.row(), (last_ - first_) * of_.row());
}

void block::reflect() {
  const std::span<double> rows(now_);
  if (first_ == 0) reflect_row(rows.subspan(of_.row(), of_.row()), rows.first(of_.row()), of_.field());
  if (last_ == of_.rows) reflect_row(row(last_ - 1), row(last_), of_.field());
}

void block::advance(std::size_t from, std::size_t to) {
  const std::size_t columns = of_.columns;
  const std::size_t field = of_.field();
  const double ratio = of_.time_step() / of_.cell();
  const auto rows_of = [&](std::vector<double>& flux, std::size_t count) {
    return flux_rows{flux.data(), flux.data() + count, flux.data() + 2 * count};
  };
  // Across a horizontal interface the momentum is hv.
  const auto vertical = [&](std::size_t below, std::vector<double>& flux) {
    const double* const low = now_.data() + (below + 1 - first_) * of_.row() + 1;
    const double* const high = low + of_.row();
    fluxes({low, low + 2 * field, low + field}, {high, high + 2 * field, high + field}, rows_of(flux, columns),
           columns);
  };
  vertical(from - 1, flux_below_);
  for (std::size_t number = from; number < to; ++number) {
    double* const cells = row(number).data();
    fluxes({cells, cells + field, cells + 2 * field}, {cells + 1, cells + field + 1, cells + 2 * field + 1},
           rows_of(flux_x_, columns + 1), columns + 1);
    vertical(number, flux_above_);
    double* const next = next_row(number).data();
    for (std::size_t which = 0; which < 3; ++which) {
      // Fluxes lie in the order h, across, along: of the vertical ones the last two change places.
      const std::size_t vertical_field = which == 0 ? 0 : 3 - which;
      update(cells + which * field + 1, next + which * field + 1, flux_x_.data() + which * (columns + 1),
             flux_below_.data() + vertical_field * columns, flux_above_.data() + vertical_field * columns, ratio,
             columns);
    }
    reflect_ends(next, field);
    flux_below_.swap(flux_above_);
  }
}

row_range part_of(const domain& of, std::size_t index, std::size_t parts) {
  return {of.rows * index / parts, of.rows * (index + 1) / parts};
}

}  // namespace shallow_water
