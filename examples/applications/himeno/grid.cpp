// The stencil row by row: the compiler vectorises along k.
#include "himeno/grid.hpp"

#include <algorithm>
#include <cstring>

namespace himeno {
namespace {

constexpr float omega = 0.8F;
constexpr std::size_t lanes = 16;

/// Partial sums, each of which takes every sixteenth point of a row.
using partial_sums = std::array<double, lanes>;

struct row_pointers {
  const float *a0, *a1, *a2, *a3, *b0, *b1, *b2, *c0, *c1, *c2, *bnd, *wrk1;
};

/// Points 1 .. count of a row; `p` is the row's first point, `change` room for the changes.
void sweep_row(const row_pointers& at, const float* p, float* __restrict next, float* __restrict change,
               std::size_t count, std::ptrdiff_t plane, std::ptrdiff_t row) {
  const float *a0 = at.a0, *a1 = at.a1, *a2 = at.a2, *a3 = at.a3, *b0 = at.b0, *b1 = at.b1, *b2 = at.b2;
  const float *c0 = at.c0, *c1 = at.c1, *c2 = at.c2, *bnd = at.bnd, *wrk1 = at.wrk1;
  const float *up = p + plane, *down = p - plane, *right = p + row, *left = p - row;
  const float *up_right = up + row, *up_left = up - row, *down_right = down + row, *down_left = down - row;
  for (std::size_t k = 1; k <= count; ++k) {
    const float s0 = a0[k] * up[k] + a1[k] * right[k] + a2[k] * p[k + 1] +
                     b0[k] * (up_right[k] - up_left[k] - down_right[k] + down_left[k]) +
                     b1[k] * (right[k + 1] - left[k + 1] - right[k - 1] + left[k - 1]) +
                     b2[k] * (up[k + 1] - down[k + 1] - up[k - 1] + down[k - 1]) + c0[k] * down[k] + c1[k] * left[k] +
                     c2[k] * p[k - 1] + wrk1[k];
    const float ss = (s0 * a3[k] - p[k]) * bnd[k];
    change[k - 1] = ss;
    next[k] = p[k] + omega * ss;
  }
}

/// `changes` has zeros up to the next multiple of `lanes`.
void add_squares(const float* changes, std::size_t count, partial_sums& sums) {
  for (std::size_t k = 0; k < count; k += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto change = static_cast<double>(changes[k + lane]);
      sums[lane] += change * change;
    }
  }
}

}  // namespace

extents extents_of(std::string_view name) {
  if (name == "XS") return {32, 32, 64};
  if (name == "S") return {64, 64, 128};
  if (name == "M") return {128, 128, 256};
  if (name == "L") return {256, 256, 512};
  return {};
}

void sweep(const extents& grid, const arrays& on, std::size_t from, std::size_t to, double* plane_residuals) {
  const std::size_t count = grid.k - 2;
  std::vector<float> changes((count + lanes - 1) / lanes * lanes, 0.0F);
  for (std::size_t i = from; i < to; ++i) {
    partial_sums sums{};
    for (std::size_t j = 1; j + 1 < grid.j; ++j) {
      const std::size_t row = i * grid.plane() + j * grid.row();
      const auto& c = on.coefficients;
      const row_pointers at{c[0] + row, c[1] + row, c[2] + row, c[3] + row, c[4] + row,  c[5] + row,
                            c[6] + row, c[7] + row, c[8] + row, c[9] + row, c[10] + row, c[11] + row};
      sweep_row(at, on.p + row, on.next + row, changes.data(), count, static_cast<std::ptrdiff_t>(grid.plane()),
                static_cast<std::ptrdiff_t>(grid.row()));
      add_squares(changes.data(), count, sums);
    }
    double sum = 0.0;
    for (const double one : sums) sum += one;
    plane_residuals[i - from] = sum;
  }
}

double residual_of(std::span<const double> plane_residuals) {
  double sum = 0.0;
  for (const double one : plane_residuals) sum += one;
  return sum;
}

slab::slab(const extents& grid, std::size_t first, std::size_t last) : grid_(grid), first_(first), last_(last) {
  initialise();
}

void slab::initialise() {
  const std::size_t size = (last_ - first_ + 2) * grid_.plane();
  constexpr std::array<float, coefficient_count> values{1.0F, 1.0F, 1.0F, 1.0F / 6.0F, 0.0F, 0.0F,
                                                        0.0F, 1.0F, 1.0F, 1.0F,        1.0F, 0.0F};
  for (std::size_t which = 0; which < coefficient_count; ++which) coefficients_[which].assign(size, values[which]);
  p_.resize(size);
  const auto end = static_cast<float>((grid_.i - 1) * (grid_.i - 1));
  for (std::size_t plane = first_ - 1; plane <= last_; ++plane) {
    const float value = static_cast<float>(plane * plane) / end;
    std::fill_n(p_.begin() + static_cast<std::ptrdiff_t>((plane - first_ + 1) * grid_.plane()), grid_.plane(), value);
  }
  next_ = p_;  // its boundary is not computed
}

void slab::sweep(std::size_t from, std::size_t to, double* plane_residuals) {
  himeno::sweep(grid_, view(), from - first_ + 1, to - first_ + 1, plane_residuals);
}

std::span<float> slab::next_plane(std::size_t plane) {
  return std::span<float>(next_).subspan((plane - first_ + 1) * grid_.plane(), grid_.plane());
}

std::vector<std::uint64_t> slab::plane_hashes() const {
  std::vector<std::uint64_t> hashes;
  for (std::size_t plane = 1; plane <= last_ - first_; ++plane) {
    std::uint64_t hash = 0xCBF29CE484222325ull;
    for (std::size_t point = 0; point < grid_.plane(); ++point) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &p_[plane * grid_.plane() + point], sizeof bits);
      hash = (hash ^ bits) * 0x100000001B3ull;
    }
    hashes.push_back(hash);
  }
  return hashes;
}

arrays slab::view() {
  arrays result;
  for (std::size_t which = 0; which < coefficient_count; ++which) {
    result.coefficients[which] = coefficients_[which].data();
  }
  result.p = p_.data();
  result.next = next_.data();
  return result;
}

plane_range part_of(const extents& grid, std::size_t index, std::size_t parts) {
  const std::size_t inner = grid.i - 2;
  return {1 + inner * index / parts, 1 + inner * (index + 1) / parts};
}

}  // namespace himeno
